/**
 * Unsaved edits of a folder. A draft contains only the edited fields, so that changes by other users appear in all other fields.
 */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import type { CurrentFolder, Properties } from '../current-folder.ts';
import { formatJson, validate, type PropertiesEdit } from './property-rows.ts';

/** The fields as stored on the server. Missing texts are empty strings. */
export interface SavedFields {
  readonly version: number;
  readonly title: string;
  readonly icon: string;
  readonly description: string;
  readonly properties: Properties;
}

const textFields = ['title', 'icon', 'description'] as const;
export type TextField = (typeof textFields)[number];
type DraftField = TextField | 'properties';

export const fieldLabels: Readonly<Record<DraftField, string>> = {
  title: 'Title',
  icon: 'Icon',
  description: 'Description',
  properties: 'Properties',
};

export interface Draft {
  /** The saved fields when the edit began or the last conflict was resolved. */
  readonly base: SavedFields;
  readonly texts: Partial<Readonly<Record<TextField, string>>>;
  readonly properties?: PropertiesEdit;
}

/** Another user has changed a field that this draft changes as well. */
export interface EditConflict {
  readonly field: DraftField;
  readonly theirs: string | Properties;
  /** Null for properties that are invalid. */
  readonly mine: string | Properties | null;
}

type SavedFolder = Pick<CurrentFolder, 'version' | 'name' | 'title' | 'icon' | 'description' | 'properties'>;

export function toSavedFields({
  version,
  name,
  title,
  icon,
  description,
  properties,
}: SavedFolder): SavedFields {
  return {
    version,
    // Without a title of its own, a folder's title is its name.
    title: title === name ? '' : title,
    icon: icon ?? '',
    description: description ?? '',
    properties,
  };
}

export function createDraft(saved: SavedFields): Draft {
  return { base: saved, texts: {} };
}

export function isDirty(draft: Draft, saved: SavedFields): boolean {
  return findChangedFields(draft, saved).length > 0;
}

/** The fields whose drafts differ from the server. */
function findChangedFields(draft: Draft, saved: SavedFields): readonly DraftField[] {
  const texts = textFields.filter((field) => (draft.texts[field] ?? saved[field]) !== saved[field]);
  const properties = draftValue(draft, 'properties');
  const isSame =
    properties === undefined || (properties !== null && isDeepEqual(properties, saved.properties));
  return isSame ? texts : [...texts, 'properties'];
}

export function findConflicts(draft: Draft, saved: SavedFields): readonly EditConflict[] {
  return findChangedFields(draft, saved)
    .filter((field) => !isDeepEqual(saved[field], draft.base[field]))
    .map((field) => ({ field, theirs: saved[field], mine: draftValue(draft, field) ?? null }));
}

/** Resolves all conflicts in favor of the draft. */
export function keepMine(draft: Draft, saved: SavedFields): Draft {
  return { ...draft, base: saved };
}

/** Updates the base of a draft after these changes were saved, so that later edits do not conflict with them. */
export function rebaseDraft(draft: Draft, changes: FolderTexts): Draft {
  const sent = Object.entries(changes).map(([field, value]) => [field, (value as unknown) ?? '']);
  return { ...draft, base: { ...draft.base, ...(Object.fromEntries(sent) as Partial<SavedFields>) } };
}

/** Returns the folder with saved changes. */
export function applyChanges<Folder extends SavedFolder>(
  folder: Folder,
  changes: FolderTexts,
  version: number,
): Folder {
  const title = changes.title === undefined ? folder.title : (changes.title ?? folder.name);
  return { ...folder, ...changes, title, version };
}

/** Returns whether the draft equals its base, so that it need not be stored. */
export function isUnchanged({ base, texts, properties }: Draft): boolean {
  return (
    properties === undefined && textFields.every((field) => (texts[field] ?? base[field]) === base[field])
  );
}

/** Resolves conflicts in favor of the other user. The rest of the draft stays. */
export function takeTheirs(
  { texts, properties }: Draft,
  saved: SavedFields,
  conflicts: readonly EditConflict[],
): Draft {
  const discarded = new Set<string>(conflicts.map(({ field }) => field));
  const remaining = Object.fromEntries(Object.entries(texts).filter(([field]) => !discarded.has(field)));
  return {
    base: saved,
    texts: remaining,
    ...(properties && !discarded.has('properties') ? { properties } : {}),
  };
}

/** The changes to send, or null if the properties are invalid. */
export function collectChanges(draft: Draft, saved: SavedFields): FolderTexts | null {
  const changes = findChangedFields(draft, saved).map((field) => [field, draftValue(draft, field)] as const);
  if (changes.some(([, mine]) => mine === null)) return null;
  return Object.fromEntries(changes.map(([field, mine]) => [field, mine === '' ? null : mine]));
}

/** The saved values of the changed fields, for undo. */
export function collectSavedValues(changes: FolderTexts, saved: SavedFields): FolderTexts {
  const fields = Object.keys(changes) as DraftField[];
  return Object.fromEntries(fields.map((field) => [field, saved[field] === '' ? null : saved[field]]));
}

/** The edited fields as texts to read and copy. Invalid properties appear as they were typed. */
export function listFields(draft: Draft): readonly { readonly label: string; readonly text: string }[] {
  const { base, properties } = draft;
  return findChangedFields(draft, base).map((field) => ({
    label: fieldLabels[field],
    text: field === 'properties' ? formatProperties(properties) : (draft.texts[field] ?? ''),
  }));
}

function formatProperties(edit: PropertiesEdit | undefined): string {
  if (!edit) return '';
  if (edit.kind === 'json') return edit.text;
  const { properties } = validate(edit);
  if (properties) return formatJson(properties);
  return edit.rows.map(({ name, value }) => `${name}: ${value}`).join('\n');
}

function draftValue({ texts, properties }: Draft, field: DraftField): string | Properties | null | undefined {
  if (field !== 'properties') return texts[field];
  return properties && validate(properties).properties;
}

/** Compares JSON values. The order of keys does not matter, the order of list items does. */
export function isDeepEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const entries = Object.entries(one);
  const otherValues = new Map<string, unknown>(Object.entries(other));
  return (
    entries.length === otherValues.size &&
    entries.every(([name, value]) => otherValues.has(name) && isDeepEqual(value, otherValues.get(name)))
  );
}
