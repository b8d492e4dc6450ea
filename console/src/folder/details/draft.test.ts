import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  rebaseDraft,
  collectChanges,
  findConflicts,
  collectSavedValues,
  isDeepEqual,
  isDirty,
  isUnchanged,
  keepMine,
  createDraft,
  toSavedFields,
  takeTheirs,
  applyChanges,
  type Draft,
  type SavedFields,
} from './draft.ts';
import { toRows } from './property-rows.ts';

const savedFields: SavedFields = {
  version: 3,
  title: 'Mill',
  icon: '',
  description: 'Old.',
  properties: { city: 'Delft', opened: 1987 },
};

const typedDraft: Draft = { ...createDraft(savedFields), texts: { title: 'The mill', icon: '⚓' } };

test('treats a title that equals the name as missing', () => {
  const folder = { version: 1, name: 'A', title: 'A', icon: null, description: null, properties: {} };
  assert.deepEqual(toSavedFields(folder), {
    version: 1,
    title: '',
    icon: '',
    description: '',
    properties: {},
  });
});

test('sends only changed fields, and null for an emptied text', () => {
  const draft = { ...typedDraft, texts: { title: '', icon: '⚓', description: 'Old.' } };
  assert.deepEqual(collectChanges(draft, savedFields), { title: null, icon: '⚓' });
  assert.deepEqual(collectSavedValues({ title: null, icon: '⚓' }, savedFields), {
    title: 'Mill',
    icon: null,
  });
});

test('is not dirty without changes, even if the order of properties differs', () => {
  assert.equal(isDirty(createDraft(savedFields), savedFields), false);
  assert.equal(isDirty({ ...createDraft(savedFields), texts: { title: 'Mill' } }, savedFields), false);
  const rows = toRows({ opened: 1987, city: 'Delft' });
  assert.equal(
    isDirty({ ...createDraft(savedFields), properties: { kind: 'rows', rows } }, savedFields),
    false,
  );
});

test('is dirty with invalid properties, but cannot be sent', () => {
  const draft: Draft = { ...createDraft(savedFields), properties: { kind: 'json', text: '{' } };
  assert.equal(isDirty(draft, savedFields), true);
  assert.equal(collectChanges(draft, savedFields), null);
});

test('does not conflict with changes in other fields', () => {
  const now = { ...savedFields, version: 4, description: 'New.', properties: {} };
  assert.deepEqual(findConflicts(typedDraft, now), []);
  assert.deepEqual(collectChanges(typedDraft, now), { title: 'The mill', icon: '⚓' });
});

test('conflicts if another user sets a different value for the same field', () => {
  const now = { ...savedFields, version: 4, title: 'Windmill', icon: '⚓' };
  assert.deepEqual(findConflicts(typedDraft, now), [
    { field: 'title', theirs: 'Windmill', mine: 'The mill' },
  ]);
});

test('conflicts again if the field changes again after keepMine()', () => {
  const now = { ...savedFields, version: 4, title: 'Windmill' };
  const resolvedDraft = keepMine(typedDraft, now);
  assert.deepEqual(findConflicts(resolvedDraft, now), []);
  assert.deepEqual(collectChanges(resolvedDraft, now), { title: 'The mill', icon: '⚓' });
  assert.equal(findConflicts(resolvedDraft, { ...now, version: 5, title: 'Watermill' }).length, 1);
});

test('discards only the conflicting fields in takeTheirs()', () => {
  const now = { ...savedFields, version: 4, title: 'Windmill', properties: {} };
  const draft: Draft = { ...typedDraft, properties: { kind: 'json', text: '{"a":1}' } };
  const conflicts = findConflicts(draft, now);
  assert.deepEqual(
    conflicts.map(({ field }) => field),
    ['title', 'properties'],
  );
  assert.deepEqual(collectChanges(takeTheirs(draft, now, conflicts), now), { icon: '⚓' });
});

test('ignores the order of keys, but not of list items, in isDeepEqual()', () => {
  assert.equal(isDeepEqual({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }), true);
  assert.equal(isDeepEqual({ a: undefined }, { b: undefined }), false);
  assert.equal(isDeepEqual([1, 2], [2, 1]), false);
  assert.equal(isDeepEqual([], {}), false);
  assert.equal(isDeepEqual(null, {}), false);
});

test('does not conflict with its own save while the user keeps typing', () => {
  const changes = collectChanges(typedDraft, savedFields)!;
  const now = { ...savedFields, version: 4, title: 'The mill', icon: '⚓' };
  const rebasedDraft = rebaseDraft(
    { ...typedDraft, texts: { ...typedDraft.texts, title: 'The mill again' } },
    changes,
  );
  assert.deepEqual(findConflicts(rebasedDraft, now), []);
  assert.deepEqual(collectChanges(rebasedDraft, now), { title: 'The mill again' });
  const newerFields = { ...now, version: 5, title: 'Theirs' };
  assert.deepEqual(
    findConflicts(rebasedDraft, newerFields).map(({ field }) => field),
    ['title'],
  );
});

test('is unchanged after a text is reverted, but not after a property row is added', () => {
  assert.equal(isUnchanged({ ...createDraft(savedFields), texts: { title: 'Mill' } }), true);
  assert.equal(isUnchanged(typedDraft), false);
  assert.equal(
    isUnchanged({ ...createDraft(savedFields), properties: { kind: 'rows', rows: toRows({}) } }),
    false,
  );
});

test('is not dirty after its changes are saved', () => {
  const folder = { ...savedFields, name: 'Old mill', icon: null, description: 'Old.' };
  const savedFolder = applyChanges(folder, { title: null, icon: '⚓' }, 4);
  assert.deepEqual(toSavedFields(savedFolder), { ...savedFields, version: 4, title: '', icon: '⚓' });
  const draft: Draft = { ...createDraft(savedFields), texts: { title: '', icon: '⚓' } };
  assert.equal(isDirty(draft, toSavedFields(savedFolder)), false);
});
