/** Why the open folder is not shown any more, as far as it is known. */

import type { FolderChange } from '../graph/live.tsx';

interface Gone {
  readonly name: string | undefined;
  /** Administrators see everything: what is gone for them is deleted. */
  readonly isAdministrator: boolean;
}

/** Of a change that tells that a folder is not there for the viewer. */
export function goneText({ kind, at, by }: FolderChange, { name, isAdministrator }: Gone): string {
  const folder = name === undefined ? 'The folder' : `“${name}”`;
  if (at === null) return `${folder} is not shown to you any more.`;
  // What was told is of something else that happened to it before.
  if (kind !== 'DELETE') return `${folder} is not there any more.`;
  if (isAdministrator) return `${folder} was deleted${by ? ` by ${by.username}` : ''}.`;
  return by
    ? `${folder} is not there any more: ${by.username} deleted it, or moved it to where you do not see it.`
    : `${folder} is not there any more.`;
}
