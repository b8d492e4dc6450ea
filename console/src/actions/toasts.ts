/** The messages that are shown now, and what can be taken back. */

import { onSignOut } from '../session/session-data.ts';
import type { Call } from './action.ts';

/** Answers why it was not taken back, and with how to try again if that may help; with nothing when it was. */
export type Undo = () => Promise<{ readonly problem: string; readonly again?: Undo | undefined } | undefined>;

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** A note is of something that is still to be done. */
  readonly tone: 'done' | 'note' | 'failure';
  readonly undo?: Undo | undefined;
  /** What is taken back by it, if that is not what the text says. */
  readonly undoes?: string;
  /** For "copy as". */
  readonly call?: Call | undefined;
}

const mostShown = 4;
const mostUndoable = 50;
const listeners = new Set<() => void>();
let shown: readonly Toast[] = [];
/** The latest last, also of messages that have gone. */
let undoable: readonly Toast[] = [];
let lastId = 0;
/** One after the other: each may build upon the one before. */
let undoing: Promise<void> = Promise.resolve();

function set(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

export const toasts = {
  add(toast: Omit<Toast, 'id'>): void {
    const added = { ...toast, id: ++lastId };
    if (toast.undo) undoable = [...undoable, added].slice(-mostUndoable);
    set([...shown, added].slice(-mostShown));
  },
  remove(id: number): void {
    set(shown.filter((toast) => toast.id !== id));
  },
  clear(): void {
    undoable = [];
    undoing = Promise.resolve();
    set([]);
  },
  read: (): readonly Toast[] => shown,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

// What somebody has done is not for the next one to read, or to take back.
onSignOut(() => toasts.clear());

/** What Ctrl+Z takes back now. */
export function lastUndoable(): Toast | undefined {
  return undoable.at(-1);
}

export function undo(toast: Toast): Promise<void> {
  undoable = undoable.filter(({ id }) => id !== toast.id);
  toasts.remove(toast.id);
  const take = () => takeBack(toast);
  return (undoing = undoing.then(take, take));
}

async function takeBack({ undo: take, text, undoes = text }: Toast): Promise<void> {
  const failure = await take?.();
  if (failure) toasts.add({ tone: 'failure', text: failure.problem, undo: failure.again, undoes });
  else toasts.add({ tone: 'done', text: `Undone: ${undoes}` });
}

/** Takes back the latest of what was done here and can be, or says that there is nothing. */
export function undoLast(): true {
  const last = lastUndoable();
  if (last) void undo(last);
  else toasts.add({ tone: 'note', text: 'There is nothing to undo' });
  return true;
}
