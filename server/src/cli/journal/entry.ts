/** The query for journal entries, and how one is printed as a line. */

import type { JournalCsvEntry } from '@espalier/contract';
import { escapeControls, toSecond } from '../terminal/output.ts';

export type Entry = JournalCsvEntry;

export const entryFields = `number cursor at kind byId by { username } byApiKeyId byApiKey { name } folderId folder { path } path formerPath ancestorIds
  formerAncestorIds userId user { username } groupId group { name } sessionId before after`;

const widths = { number: 8, by: 12 };
const maxValueLength = 60;

export const heading = [
  'Number'.padStart(widths.number),
  'At (UTC)'.padEnd(19),
  'By'.padEnd(widths.by),
  'What',
].join('  ');

/** Widths are fixed, because later entries are unknown when the first line is printed. */
export function toLine(entry: Entry): string {
  const cells = [
    String(entry.number).padStart(widths.number),
    toSecond(entry.at),
    authorOf(entry).padEnd(widths.by),
    [entry.kind, ...objectsOf(entry), ...changesOf(entry), ...keyOf(entry)].join('  '),
  ];
  return escapeControls(cells.join('  '));
}

function authorOf({ by, byId }: Entry): string {
  return by?.username ?? (byId === null ? '(server)' : `id:${byId}`);
}

function keyOf({ byApiKey, byApiKeyId }: Entry): string[] {
  return byApiKeyId === null ? [] : [`with key ${byApiKey?.name ?? `id:${byApiKeyId}`}`];
}

/** A folder has its path at the time of the change. A deleted user or group has the name from the entry, or its id. */
function objectsOf(entry: Entry): string[] {
  const { folderId, folder, path, formerPath, userId, user, groupId, group, sessionId } = entry;
  const nameInEntry = (name: string) => {
    const value = entry.after?.[name] ?? entry.before?.[name];
    return typeof value === 'string' ? `${value} (deleted)` : undefined;
  };
  const folderText = () => {
    const shown = path ?? folder?.path;
    if (shown === undefined) return undefined;
    return `${shown}${folder ? '' : ' (deleted)'}${formerPath === null ? '' : ` from ${formerPath}`}`;
  };
  return [
    folderId && (folderText() ?? nameInEntry('name') ?? `id:${folderId}`),
    userId && `user ${user?.username ?? nameInEntry('username') ?? `id:${userId}`}`,
    groupId && `group ${group?.name ?? nameInEntry('name') ?? `id:${groupId}`}`,
    sessionId && `session ${sessionId}`,
  ].flatMap((each) => each || []);
}

/** Leaves out a name that the line already contains as the folder, user or group, unless the change is a new name. */
function changesOf({ before, after, formerPath, folderId, userId, groupId }: Entry): string[] {
  const names = [...(folderId || groupId ? ['name'] : []), ...(userId ? ['username'] : [])];
  const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...keys].flatMap((key) => {
    const [old, now] = [before?.[key], after?.[key]];
    const isSame = old === undefined || now === undefined || JSON.stringify(old) === JSON.stringify(now);
    if (isSame && names.includes(key)) return [];
    // The line contains both paths.
    if (key === 'parentId' && formerPath !== null) return [];
    if (old === undefined) return [`${key}: ${shorten(now)}`];
    return [`${key}: ${shorten(old)} → ${now === undefined ? '-' : shorten(now)}`];
  });
}

function shorten(value: unknown): string {
  const letters = [...escapeControls(typeof value === 'string' ? value : JSON.stringify(value))];
  return letters.length > maxValueLength
    ? `${letters.slice(0, maxValueLength - 1).join('')}…`
    : letters.join('');
}
