import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  rebaseDraft,
  collectChanges,
  findConflicts,
  previousValues,
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

const saved: SavedFields = {
  version: 3,
  title: 'Mill',
  icon: '',
  description: 'Old.',
  properties: { city: 'Delft', opened: 1987 },
};

const typed: Draft = { ...createDraft(saved), texts: { title: 'The mill', icon: '⚓' } };

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
  const draft = { ...typed, texts: { title: '', icon: '⚓', description: 'Old.' } };
  assert.deepEqual(collectChanges(draft, saved), { title: null, icon: '⚓' });
  assert.deepEqual(previousValues({ title: null, icon: '⚓' }, saved), { title: 'Mill', icon: null });
});

test('is not dirty without changes, even if the order of properties differs', () => {
  assert.equal(isDirty(createDraft(saved), saved), false);
  assert.equal(isDirty({ ...createDraft(saved), texts: { title: 'Mill' } }, saved), false);
  const rows = toRows({ opened: 1987, city: 'Delft' });
  assert.equal(isDirty({ ...createDraft(saved), properties: { kind: 'rows', rows } }, saved), false);
});

test('is dirty with invalid properties, but cannot be sent', () => {
  const draft: Draft = { ...createDraft(saved), properties: { kind: 'json', text: '{' } };
  assert.equal(isDirty(draft, saved), true);
  assert.equal(collectChanges(draft, saved), null);
});

test('does not conflict with changes in other fields', () => {
  const now = { ...saved, version: 4, description: 'New.', properties: {} };
  assert.deepEqual(findConflicts(typed, now), []);
  assert.deepEqual(collectChanges(typed, now), { title: 'The mill', icon: '⚓' });
});

test('conflicts if another user sets a different value for the same field', () => {
  const now = { ...saved, version: 4, title: 'Windmill', icon: '⚓' };
  assert.deepEqual(findConflicts(typed, now), [{ field: 'title', theirs: 'Windmill', mine: 'The mill' }]);
});

test('sends the draft after keepMine, and conflicts again after a further change', () => {
  const now = { ...saved, version: 4, title: 'Windmill' };
  const resolved = keepMine(typed, now);
  assert.deepEqual(findConflicts(resolved, now), []);
  assert.deepEqual(collectChanges(resolved, now), { title: 'The mill', icon: '⚓' });
  assert.equal(findConflicts(resolved, { ...now, version: 5, title: 'Watermill' }).length, 1);
});

test('discards only the conflicting fields after takeTheirs', () => {
  const now = { ...saved, version: 4, title: 'Windmill', properties: {} };
  const draft: Draft = { ...typed, properties: { kind: 'json', text: '{"a":1}' } };
  const conflicts = findConflicts(draft, now);
  assert.deepEqual(
    conflicts.map(({ field }) => field),
    ['title', 'properties'],
  );
  assert.deepEqual(collectChanges(takeTheirs(draft, now, conflicts), now), { icon: '⚓' });
});

test('compares objects regardless of key order, and lists with their order', () => {
  assert.equal(isDeepEqual({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }), true);
  assert.equal(isDeepEqual({ a: undefined }, { b: undefined }), false);
  assert.equal(isDeepEqual([1, 2], [2, 1]), false);
  assert.equal(isDeepEqual([], {}), false);
  assert.equal(isDeepEqual(null, {}), false);
});

test('does not conflict with its own save while the user keeps typing', () => {
  const changes = collectChanges(typed, saved)!;
  const now = { ...saved, version: 4, title: 'The mill', icon: '⚓' };
  const going = rebaseDraft({ ...typed, texts: { ...typed.texts, title: 'The mill again' } }, changes);
  assert.deepEqual(findConflicts(going, now), []);
  assert.deepEqual(collectChanges(going, now), { title: 'The mill again' });
  const theirs = { ...now, version: 5, title: 'Theirs' };
  assert.deepEqual(
    findConflicts(going, theirs).map(({ field }) => field),
    ['title'],
  );
});

test('is unchanged after text is reverted, but not with a new property row', () => {
  assert.equal(isUnchanged({ ...createDraft(saved), texts: { title: 'Mill' } }), true);
  assert.equal(isUnchanged(typed), false);
  assert.equal(isUnchanged({ ...createDraft(saved), properties: { kind: 'rows', rows: toRows({}) } }), false);
});

test('is not dirty after its changes are saved', () => {
  const folder = { ...saved, name: 'Old mill', icon: null, description: 'Old.' };
  const changed = applyChanges(folder, { title: null, icon: '⚓' }, 4);
  assert.deepEqual(toSavedFields(changed), { ...saved, version: 4, title: '', icon: '⚓' });
  const draft: Draft = { ...createDraft(saved), texts: { title: '', icon: '⚓' } };
  assert.equal(isDirty(draft, toSavedFields(changed)), false);
});
