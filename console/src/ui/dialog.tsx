/** Dialogs: a question or a form above the page, with what it does also as text for a script. */

import { Dialog as AriaDialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { Call } from '../actions/action.ts';
import { describeProblem } from '../graph/problem.ts';
import { Button, IconButton } from './button.tsx';
import { CopyAs } from './copy.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly size?: 'normal' | 'wide';
  /** Not while something is being done: what comes of it is told here. */
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
            <Heading slot="title">{title}</Heading>
            <IconButton label="Close" icon="close" isDisabled={!isClosable} onPress={onClose} />
          </header>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ActionDialogProps extends DialogProps {
  /** On the button that does it. */
  readonly verb: string;
  readonly isDanger?: boolean;
  /** What it would do as it is filled in now, for "copy as". */
  readonly call?: Call | undefined;
  /** Whether it is filled in. */
  readonly isReady?: boolean;
  /** Not, if something else takes its place. */
  readonly closesWhenDone?: boolean;
  /** The dialog closes when it is done, and tells why when it is refused. */
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
          <Choice {...{ verb, isDanger, isReady, isPending, onClose }} />
        </footer>
      </Form>
    </Dialog>
  );
}

interface ChoiceProps extends Required<Pick<ActionDialogProps, 'verb' | 'isDanger' | 'isReady' | 'onClose'>> {
  readonly isPending: boolean;
}

/** If there is nothing to fill in, one of them has the focus: the one that does no harm. */
function Choice({ verb, isDanger, isReady, isPending, onClose }: ChoiceProps) {
  const first = useRef<HTMLButtonElement>(null);
  // The dialog takes the focus itself if nothing inside has it by now; what is inside comes before it.
  useEffect(() => {
    if (!first.current?.form?.querySelector('input, textarea')) first.current?.focus();
  }, []);
  return (
    <>
      <Button ref={isDanger ? first : undefined} isDisabled={isPending} onPress={onClose}>
        Cancel
      </Button>
      <Button
        ref={isDanger ? undefined : first}
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
