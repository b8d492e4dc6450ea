/** Names and descriptions of access levels. */

import type { AccessLevel } from '../graph/live.tsx';
import { curlQuotes } from '../graph/problem.ts';

/** Options for a `Select`, in ascending order. */
export const accessLevels: readonly {
  readonly id: AccessLevel;
  readonly label: string;
  readonly help: string;
}[] = [
  { id: 'NONE', label: 'No access', help: 'Blocks inherited access.' },
  { id: 'READ', label: 'Read', help: 'See the folder and everything inside.' },
  { id: 'WRITE', label: 'Write', help: 'Also change the folder and everything inside.' },
  { id: 'MANAGE', label: 'Manage', help: 'Also grant and remove access.' },
];

export function formatLevel(level: AccessLevel): string {
  return accessLevels.find(({ id }) => id === level)!.label;
}

const tones: Readonly<Record<AccessLevel, string>> = {
  NONE: 'danger',
  READ: 'info',
  WRITE: 'good',
  MANAGE: 'warning',
};

export function LevelChip({ level }: { level: AccessLevel }) {
  return <span className={`label-chip ${tones[level]}`}>{formatLevel(level)}</span>;
}

/** Replaces the level name and the quotes of the API in the sentence of `explainAccess`. */
export function formatReason(reason: string): string {
  return curlQuotes(reason).replace(
    / gives (NONE|READ|WRITE|MANAGE)\.(?= The user sees its name,|$)/,
    (_, level: AccessLevel) =>
      ` gives ${formatLevel(level).toLowerCase()}${level === 'NONE' ? '' : ' access'}.`,
  );
}
