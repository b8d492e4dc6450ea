/** The commands of the command palette. Each screen offers its own while it is displayed. */

import { useEffect, useRef } from 'react';

export interface Command {
  /** Unique among all commands. */
  readonly id: string;
  /** The text of the command, with dots if the command opens a dialog, for example "Move to…". */
  readonly label: string;
  /** The heading above the command, for example "Folder" or "People". */
  readonly group: string;
  /** Further words that find the command. */
  readonly keywords?: string;
  /** The displayed keyboard shortcut, for example "F2". The screen itself handles the keys. */
  readonly keys?: string;
  readonly run: () => void;
}

type CommandsRef = { readonly current: readonly Command[] };

const offeredCommands = new Set<CommandsRef>();
let pendingId: string | undefined;

/** Offers commands while the component is mounted. The list may change with each rendering. */
export function useCommands(commands: readonly Command[]): void {
  const latestCommands = useRef(commands);
  useEffect(() => {
    latestCommands.current = commands;
  });
  useEffect(() => {
    offeredCommands.add(latestCommands);
    const pendingCommand = latestCommands.current.find(({ id }) => id === pendingId);
    if (pendingCommand) {
      pendingId = undefined;
      pendingCommand.run();
    }
    return () => void offeredCommands.delete(latestCommands);
  }, []);
}

/** Lists the offered commands. If several have the same id, only the latest is listed. */
export function listCommands(): readonly Command[] {
  const byId = new Map(
    [...offeredCommands].flatMap(({ current }) => current).map((command) => [command.id, command]),
  );
  return [...byId.values()];
}

/** Runs a command as soon as a screen offers it. Call this before opening that screen. */
export function runCommandWhenOffered(id: string): void {
  pendingId = id;
}
