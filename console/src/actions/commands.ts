/** What can be done now, for the command palette: each screen tells its own while it is shown. */

import { useEffect, useRef } from 'react';

export interface Command {
  /** Unique among all commands. */
  readonly id: string;
  /** As in a menu, with dots if it asks further: "Move to…". */
  readonly label: string;
  /** What it is about, as a heading: "Folder", "People". */
  readonly group: string;
  /** Other words that find it. */
  readonly keywords?: string;
  /** The keys that do the same, as they are shown: "F2". The screen itself listens for them. */
  readonly keys?: string;
  readonly run: () => void;
}

type Given = { readonly current: readonly Command[] };

const given = new Set<Given>();
let awaited: string | undefined;

/** Offers these while the component is there. The list may be another at each rendering. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    given.add(latest);
    const due = latest.current.find(({ id }) => id === awaited);
    if (due) {
      awaited = undefined;
      due.run();
    }
    return () => void given.delete(latest);
  }, []);
}

/** All that are offered now; of several with one id, the one that came last. */
export function listCommands(): readonly Command[] {
  const byId = new Map([...given].flatMap(({ current }) => current).map((command) => [command.id, command]));
  return [...byId.values()];
}

/** Does it as soon as a screen offers it: for one that is about to be shown. */
export function runCommandWhenOffered(id: string): void {
  awaited = id;
}
