/** The displayed toasts, and the actions that can be undone. */

import { onSignOut } from '../session/session-data.ts';
import type { Call } from './action.ts';

/** Returns undefined on success. Otherwise returns the problem, and a retry if one may help. */
export type Undo = () => Promise<{ readonly problem: string; readonly retry?: Undo | undefined } | undefined>;

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** 'note': information that is not the result of an action. */
  readonly tone: 'done' | 'note' | 'failure';
  readonly undo?: Undo | undefined;
  /** The action that `undo` reverses. Default: `text`. Set for a failed undo, whose `text` is the problem. */
  readonly undoneText?: string;
  /** For "copy as". */
  readonly call?: Call | undefined;
}

const maxToasts = 4;
const maxUndoableToasts = 50;
const listeners = new Set<() => void>();
let visibleToasts: readonly Toast[] = [];
/** Ordered by time. Contains toasts that are no longer visible. */
let undoableToasts: readonly Toast[] = [];
let lastId = 0;
/** Undos run in sequence, because each may depend on the one before. */
let pendingUndos: Promise<void> = Promise.resolve();

function setVisibleToasts(next: readonly Toast[]): void {
  visibleToasts = next;
  for (const listener of listeners) listener();
}

function remember(toast: Toast): void {
  if (toast.undo) undoableToasts = [...undoableToasts, toast].slice(-maxUndoableToasts);
}

export const toasts = {
  add(toast: Omit<Toast, 'id'>): void {
    const newToast = { ...toast, id: ++lastId };
    remember(newToast);
    setVisibleToasts([...visibleToasts, newToast].slice(-maxToasts));
  },
  /** Makes an action undoable without a visible toast, because a dialog reports the action. */
  addHidden(toast: Omit<Toast, 'id'>): void {
    remember({ ...toast, id: ++lastId });
  },
  remove(id: number): void {
    setVisibleToasts(visibleToasts.filter((toast) => toast.id !== id));
  },
  clear(): void {
    undoableToasts = [];
    // An undo that is running at sign-out never settles; see whileSignedIn.
    pendingUndos = Promise.resolve();
    setVisibleToasts([]);
  },
  read: (): readonly Toast[] => visibleToasts,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

// The next user must not read or undo the actions of this one.
onSignOut(() => toasts.clear());

/** The action that Ctrl+Z undoes. */
export function latestUndoable(): Toast | undefined {
  return undoableToasts.at(-1);
}

export function undo(toast: Toast): Promise<void> {
  undoableToasts = undoableToasts.filter(({ id }) => id !== toast.id);
  toasts.remove(toast.id);
  const run = () => runUndo(toast);
  return (pendingUndos = pendingUndos.then(run, run));
}

async function runUndo({ undo: perform, text, undoneText = text }: Toast): Promise<void> {
  const failure = await perform?.();
  if (failure) toasts.add({ tone: 'failure', text: failure.problem, undo: failure.retry, undoneText });
  else toasts.add({ tone: 'done', text: `Undone: ${undoneText}` });
}

/** Undoes the latest action, or reports that there is nothing to undo. */
export function undoLast(): void {
  const last = latestUndoable();
  if (last) void undo(last);
  else toasts.add({ tone: 'note', text: 'There is nothing to undo' });
}
