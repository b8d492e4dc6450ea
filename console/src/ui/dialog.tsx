/**
 * Dialogs: a plain dialog, a form that performs an action, a form for a name, and the confirmation of an action on several
 * items. The input of a form can be copied as GraphQL, curl or CLI text.
 */

import { Dialog as AriaDialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { Call } from '../actions/action.ts';
import { performEach, type BulkAction, type BulkOutcome } from '../actions/bulk.ts';
import { perform } from '../actions/perform.ts';
import type { Task } from '../actions/task.ts';
import { describeProblem, isEdited, type Problem } from '../graph/problem.ts';
import { Button, IconButton } from './button.tsx';
import { CopyAs } from './copy.tsx';
import { TextField } from './fields.tsx';
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

interface ActionDialogProps<Variables extends object, Result> extends Omit<DialogProps, 'isClosable'> {
  /** The text of the submit button. */
  readonly verb: string;
  readonly isDanger?: boolean;
  /** The task that the button performs. */
  readonly task?: Task<Variables, Result>;
  /** Called before the dialog closes. */
  readonly onDone?: (result: Result) => void;
  /** The call for the current input, for "copy as". Default: `task`. */
  readonly call?: Call | undefined;
  /** Whether the input is complete. */
  readonly isReady?: boolean;
  /** Whether the dialog closes on success. False if the caller then shows other content. */
  readonly closesWhenDone?: boolean;
  /** Whether closing the dialog cancels a running action. */
  readonly isCancellable?: boolean;
  /** Replaces `task`. If it rejects, the dialog shows the error. */
  readonly onSubmit?: () => Promise<unknown>;
}

export function ActionDialog<Variables extends object, Result>(props: ActionDialogProps<Variables, Result>) {
  const { verb, isDanger = false, task, call = task, isReady = true, closesWhenDone = true } = props;
  const { isCancellable = false } = props;
  const { title, size = 'normal', onSubmit, onDone, onClose, children } = props;
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (isPending || !isReady) return;
    setPending(true);
    setProblem(null);
    try {
      await onSubmit?.();
      if (task) {
        const result = await perform(task);
        onDone?.(result);
      }
      if (closesWhenDone) onClose();
    } catch (error) {
      const newProblem = describeProblem(error);
      setProblem({ ...newProblem, isInField: focusField(form, newProblem) });
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog title={title} size={size} isClosable={!isPending || isCancellable} onClose={onClose}>
      <div className="contents" onInput={(event) => isEdited(problem, event) && setProblem(null)}>
        <Form
          className="dialog-form"
          validationBehavior="aria"
          validationErrors={problem?.fieldErrors ?? noErrors}
          onSubmit={(event) => void submit(event)}
        >
          {children}
          {problem && !problem.isInField && (
            <p className="problem" role="alert">
              <Name>{problem.text}</Name>
            </p>
          )}
          <footer className="dialog-footer">
            {call && <CopyAs call={call} />}
            <span className="grow" />
            <DialogButtons {...{ verb, isDanger, isReady, isPending, isCancellable, onClose }} />
          </footer>
        </Form>
      </div>
    </Dialog>
  );
}

const noErrors = {};

interface ShownProblem extends Problem {
  /** Whether a field of the form displays the problem. */
  readonly isInField: boolean;
}

/** Focuses the field that the problem is about. Returns false if the form does not have it. */
function focusField(form: HTMLFormElement, { fieldErrors }: Problem): boolean {
  const [field] = Object.keys(fieldErrors).map((name) => form.elements.namedItem(name));
  if (!(field instanceof HTMLElement)) return false;
  field.focus();
  return true;
}

interface DialogButtonsProps {
  readonly verb: string;
  readonly isDanger: boolean;
  readonly isReady: boolean;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly isCancellable: boolean;
}

/** In a dialog without input fields, the button that changes nothing gets the focus. */
function DialogButtons(props: DialogButtonsProps) {
  const { verb, isDanger, isReady, isPending, isCancellable, onClose } = props;
  const safeButton = useRef<HTMLButtonElement>(null);
  // Runs before the effect of the dialog, which would otherwise focus the dialog element.
  useEffect(() => {
    if (!safeButton.current?.form?.querySelector('input, textarea')) safeButton.current?.focus();
  }, []);
  return (
    <>
      <Button
        ref={isDanger ? safeButton : undefined}
        isDisabled={isPending && !isCancellable}
        onPress={onClose}
      >
        Cancel
      </Button>
      <Button
        ref={isDanger ? undefined : safeButton}
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

interface NameDialogProps<Variables extends object, Result> {
  readonly title: string;
  readonly verb: string;
  readonly label?: string;
  /** The input field of the API, for its errors. */
  readonly field?: 'name' | 'username';
  readonly help?: string;
  /** The current name, which is not accepted as the new one. */
  readonly name?: string;
  readonly taskOf: (name: string) => Task<Variables, Result>;
  readonly onDone?: (result: Result) => void;
  readonly onClose: () => void;
}

/** Creates or renames something by its name. */
export function NameDialog<Variables extends object, Result>(props: NameDialogProps<Variables, Result>) {
  const {
    title,
    verb,
    label = 'Name',
    field = 'name',
    help,
    name: oldName = '',
    taskOf,
    onDone,
    onClose,
  } = props;
  const [name, setName] = useState(oldName);
  return (
    <ActionDialog
      title={title}
      verb={verb}
      task={taskOf(name)}
      isReady={name.trim() !== '' && name !== oldName}
      {...(onDone && { onDone })}
      onClose={onClose}
    >
      <TextField
        label={label}
        name={field}
        value={name}
        onChange={setName}
        help={help}
        isRequired
        autoFocus
        autoComplete="off"
      />
    </ActionDialog>
  );
}

interface BulkDialogProps<Item, Variables extends object, Result> {
  readonly title: string;
  readonly verb: string;
  readonly isDanger?: boolean;
  readonly items: readonly Item[];
  /** The name of an item in the list of failures. */
  readonly nameOf: (item: Item) => string;
  readonly action: BulkAction<Item, Variables, Result>;
  readonly call?: Call | undefined;
  readonly isReady?: boolean;
  /** Called when all items are done. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Confirms an action on several items, shows its progress, and lists the items that failed. */
export function BulkDialog<Item, Variables extends object, Result>(
  props: BulkDialogProps<Item, Variables, Result>,
) {
  const { items, nameOf, action, verb, onDone, onClose, children, ...others } = props;
  const [outcome, setOutcome] = useState<BulkOutcome<Item>>();
  const [progress, setProgress] = useState<{ readonly done: number; readonly stop: () => void }>();
  const remaining = outcome ? [...outcome.failures.map(({ item }) => item), ...outcome.untriedItems] : items;
  const run = async () => {
    const controller = new AbortController();
    const showProgress = (done: number) => setProgress({ done, stop: () => controller.abort() });
    showProgress(0);
    const result = await performEach(remaining, action, {
      onProgress: showProgress,
      signal: controller.signal,
    });
    setProgress(undefined);
    setOutcome(result);
    if (result.failures.length + result.untriedItems.length > 0) return;
    onDone?.();
    onClose();
  };
  return (
    <ActionDialog
      {...others}
      verb={outcome ? 'Try again' : verb}
      closesWhenDone={false}
      onSubmit={run}
      onClose={onClose}
    >
      {outcome ? <Outcome outcome={outcome} total={items.length} nameOf={nameOf} /> : children}
      {progress && remaining.length > 1 && (
        <div className="bulk-progress" role="group" aria-label="Progress">
          <progress aria-label={verb} value={progress.done} max={remaining.length} />
          <span className="number" role="status">
            {progress.done.toLocaleString('en')} of {remaining.length.toLocaleString('en')}
          </span>
          <Button size="small" onPress={progress.stop}>
            Stop
          </Button>
        </div>
      )}
    </ActionDialog>
  );
}

interface OutcomeProps<Item> {
  readonly outcome: BulkOutcome<Item>;
  readonly total: number;
  readonly nameOf: (item: Item) => string;
}

function Outcome<Item>({ outcome: { failures, untriedItems }, total, nameOf }: OutcomeProps<Item>) {
  const done = total - failures.length - untriedItems.length;
  return (
    <>
      <div className="problem" role="alert">
        <p>
          {done.toLocaleString('en')} of {total.toLocaleString('en')} done.
          {untriedItems.length > 0 && ` ${untriedItems.length.toLocaleString('en')} not tried.`}
        </p>
      </div>
      {failures.length > 0 && (
        <ul className="bulk-failures" aria-label="Failed">
          {failures.map(({ item, text }, index) => (
            <li key={index}>
              <strong>
                <Name>{nameOf(item)}</Name>
              </strong>
              : {text}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
