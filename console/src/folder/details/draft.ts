/**
 * What somebody has typed on a folder's page and not saved: only the fields that they touched, so that what others change
 * meanwhile comes through everywhere else. Pure.
 */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import type { OpenFolder, Properties } from '../open-folder.ts';
import { judge, type PropertiesEdit } from './property-rows.ts';

/** What the server has. */
export interface Saved {
  readonly version: number;
  readonly title: string;
  readonly icon: string;
  readonly description: string;
  readonly properties: Properties;
}

export const textFields = ['title', 'icon', 'description'] as const;
export type TextField = (typeof textFields)[number];
export type DraftField = TextField | 'properties';

export interface Draft {
  /** What the person saw when they began, or chose between. */
  readonly base: Saved;
  readonly texts: Partial<Readonly<Record<TextField, string>>>;
  readonly properties?: PropertiesEdit;
}

/** Somebody else has changed the same field. */
export interface Clash {
  readonly field: DraftField;
  readonly theirs: string | Properties;
  /** Null for properties that are not right yet. */
  readonly mine: string | Properties | null;
}

type SavedFolder = Pick<OpenFolder, 'version' | 'name' | 'title' | 'icon' | 'description' | 'properties'>;

export function savedOf({ version, name, title, icon, description, properties }: SavedFolder): Saved {
  return {
    version,
    // The title is the name unless one was given.
    title: title === name ? '' : title,
    icon: icon ?? '',
    description: description ?? '',
    properties,
  };
}

export function newDraft(saved: Saved): Draft {
  return { base: saved, texts: {} };
}

/** Whether there is something to be saved. */
export function isDirty(draft: Draft, saved: Saved): boolean {
  return changedFields(draft, saved).length > 0;
}

/** What has been typed and is not what the server has. */
export function changedFields(draft: Draft, saved: Saved): readonly DraftField[] {
  const texts = textFields.filter((field) => (draft.texts[field] ?? saved[field]) !== saved[field]);
  const properties = mineOf(draft, 'properties');
  const isSame = properties === undefined || (properties !== null && isAlike(properties, saved.properties));
  return isSame ? texts : [...texts, 'properties'];
}

export function clashesOf(draft: Draft, saved: Saved): readonly Clash[] {
  return changedFields(draft, saved)
    .filter((field) => !isAlike(saved[field], draft.base[field]))
    .map((field) => ({ field, theirs: saved[field], mine: mineOf(draft, field) ?? null }));
}

/** What the person typed is to be saved, whatever others did. */
export function keepMine(draft: Draft, saved: Saved): Draft {
  return { ...draft, base: saved };
}

/** These changes have been saved: what was typed since is typed upon them. */
export function afterSaving(draft: Draft, changes: FolderTexts): Draft {
  const sent = Object.entries(changes).map(([field, value]) => [field, (value as unknown) ?? '']);
  return { ...draft, base: { ...draft.base, ...(Object.fromEntries(sent) as Partial<Saved>) } };
}

/** The folder as it is once these changes have been saved. */
export function withChanges<Kept extends SavedFolder>(
  folder: Kept,
  changes: FolderTexts,
  version: number,
): Kept {
  const title = changes.title === undefined ? folder.title : (changes.title ?? folder.name);
  return { ...folder, ...changes, title, version };
}

/** Whether everything is as it was when the person began: then there is nothing to keep. */
export function isUntouched({ base, texts, properties }: Draft): boolean {
  return (
    properties === undefined && textFields.every((field) => (texts[field] ?? base[field]) === base[field])
  );
}

/** Of what clashes, what the others did is taken; the rest of the draft stays. */
export function takeTheirs({ texts, properties }: Draft, saved: Saved, clashes: readonly Clash[]): Draft {
  const given = new Set<string>(clashes.map(({ field }) => field));
  const kept = Object.fromEntries(Object.entries(texts).filter(([field]) => !given.has(field)));
  return {
    base: saved,
    texts: kept,
    ...(properties && !given.has('properties') ? { properties } : {}),
  };
}

/** What is to be sent; null if something is not right yet. */
export function changesOf(draft: Draft, saved: Saved): FolderTexts | null {
  const changes = changedFields(draft, saved).map((field) => [field, mineOf(draft, field)] as const);
  if (changes.some(([, mine]) => mine === null)) return null;
  return Object.fromEntries(changes.map(([field, mine]) => [field, mine === '' ? null : mine]));
}

/** What takes those changes back. */
export function formerOf(changes: FolderTexts, saved: Saved): FolderTexts {
  const fields = Object.keys(changes) as DraftField[];
  return Object.fromEntries(fields.map((field) => [field, saved[field] === '' ? null : saved[field]]));
}

function mineOf({ texts, properties }: Draft, field: DraftField): string | Properties | null | undefined {
  if (field !== 'properties') return texts[field];
  return properties && judge(properties).properties;
}

/** The order of an object's names does not matter; that of a list does. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ones, others] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))];
  return (
    ones.length === others.size &&
    ones.every(([name, value]) => others.has(name) && isAlike(value, others.get(name)))
  );
}
