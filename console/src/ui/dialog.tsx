/** Dialogs: a plain one, and a form that performs an action and can be copied as a script. */

import { Dialog as AriaDialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { Call } from '../actions/action.ts';
import { describeProblem } from '../graph/problem.ts';
import { Button, IconButton } from './button.tsx';
import { CopyAs } from './copy.tsx';
import { Name } from './text.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly size?: 'normal' | 'wide';
  /** False while an action runs, because its result appears here. */
  readonly isClosable?: boolean;
  readonly onClose: () => void;
}

export function Dialog({ title, children, onClose, size = 'normal', isClosable = true }: DialogProps) {
  return (
    <ModalOverlay
      className="dialog-backdrop"
      isOpen
      isDismissable={isClosable}
      isKeyboardDismissDisabled={!isClosable}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className={`dialog ${size}`}>
        <AriaDialog className="dialog-content">
          <header className="dialog-header">
            <Heading slot="title">
              <Name>{title}</Name>
            </Heading>
            <IconButton label="Close" icon="close" isDisabled={!isClosable} onPress={onClose} />
          </header>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ActionDialogProps extends Omit<DialogProps, 'isClosable'> {
  /** The text of the submit button. */
  readonly verb: string;
  readonly isDanger?: boolean;
  /** The call for the current input, for "copy as". */
  readonly call?: Call | undefined;
  /** Whether the input is complete. */
  readonly isReady?: boolean;
  /** Whether the dialog closes on success. False if the caller then shows other content. */
  readonly closesWhenDone?: boolean;
  /** If it rejects, the dialog shows the error. */
  readonly onSubmit: () => Promise<unknown>;
}

export function ActionDialog(props: ActionDialogProps) {
  const { verb, isDanger = false, call, isReady = true, closesWhenDone = true } = props;
  const { title, size = 'normal', onSubmit, onClose, children } = props;
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isPending || !isReady) return;
    setPending(true);
    setProblem(null);
    try {
      await onSubmit();
      if (closesWhenDone) onClose();
    } catch (error) {
      setProblem(describeProblem(error).text);
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog title={title} size={size} isClosable={!isPending} onClose={onClose}>
      <Form className="dialog-form" onSubmit={(event) => void submit(event)}>
        {children}
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <footer className="dialog-footer">
          {call && <CopyAs call={call} />}
          <span className="grow" />
          <DialogButtons {...{ verb, isDanger, isReady, isPending, onClose }} />
        </footer>
      </Form>
    </Dialog>
  );
}

interface DialogButtonsProps extends Required<
  Pick<ActionDialogProps, 'verb' | 'isDanger' | 'isReady' | 'onClose'>
> {
  readonly isPending: boolean;
}

/** Without input fields, the harmless button gets the focus. */
function DialogButtons({ verb, isDanger, isReady, isPending, onClose }: DialogButtonsProps) {
  const harmless = useRef<HTMLButtonElement>(null);
  // Runs before the effect of the dialog, which would otherwise focus the dialog element.
  useEffect(() => {
    if (!harmless.current?.form?.querySelector('input, textarea')) harmless.current?.focus();
  }, []);
  return (
    <>
      <Button ref={isDanger ? harmless : undefined} isDisabled={isPending} onPress={onClose}>
        Cancel
      </Button>
      <Button
        ref={isDanger ? undefined : harmless}
        type="submit"
        tone={isDanger ? 'danger' : 'primary'}
        isPending={isPending}
        isDisabled={!isReady}
      >
        {verb}
      </Button>
    </>
  );
}
