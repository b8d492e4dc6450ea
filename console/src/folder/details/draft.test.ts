import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterSaving,
  changesOf,
  clashesOf,
  formerOf,
  isAlike,
  isDirty,
  isUntouched,
  keepMine,
  newDraft,
  savedOf,
  takeTheirs,
  withChanges,
  type Draft,
  type Saved,
} from './draft.ts';
import { rowsOf } from './property-rows.ts';

const saved: Saved = {
  version: 3,
  title: 'Mill',
  icon: '',
  description: 'Old.',
  properties: { city: 'Delft', opened: 1987 },
};

const typed: Draft = { ...newDraft(saved), texts: { title: 'The mill', icon: '⚓' } };

test('a title that is the name is none', () => {
  const folder = { version: 1, name: 'A', title: 'A', icon: null, description: null, properties: {} };
  assert.deepEqual(savedOf(folder), { version: 1, title: '', icon: '', description: '', properties: {} });
});

test('only what was typed and differs is sent, and an empty text is taken away', () => {
  const draft = { ...typed, texts: { title: '', icon: '⚓', description: 'Old.' } };
  assert.deepEqual(changesOf(draft, saved), { title: null, icon: '⚓' });
  assert.deepEqual(formerOf({ title: null, icon: '⚓' }, saved), { title: 'Mill', icon: null });
});

test('a draft without a difference is not dirty, also of properties in another order', () => {
  assert.equal(isDirty(newDraft(saved), saved), false);
  assert.equal(isDirty({ ...newDraft(saved), texts: { title: 'Mill' } }, saved), false);
  const rows = rowsOf({ opened: 1987, city: 'Delft' });
  assert.equal(isDirty({ ...newDraft(saved), properties: { kind: 'rows', rows } }, saved), false);
});

test('properties that are not right are dirty and cannot be sent', () => {
  const draft: Draft = { ...newDraft(saved), properties: { kind: 'json', text: '{' } };
  assert.equal(isDirty(draft, saved), true);
  assert.equal(changesOf(draft, saved), null);
});

test('what others change elsewhere does not clash', () => {
  const now = { ...saved, version: 4, description: 'New.', properties: {} };
  assert.deepEqual(clashesOf(typed, now), []);
  assert.deepEqual(changesOf(typed, now), { title: 'The mill', icon: '⚓' });
});

test('what others change in the same field clashes, unless they made it the same', () => {
  const now = { ...saved, version: 4, title: 'Windmill', icon: '⚓' };
  assert.deepEqual(clashesOf(typed, now), [{ field: 'title', theirs: 'Windmill', mine: 'The mill' }]);
});

test('keeping mine sends it all; a further change of theirs clashes again', () => {
  const now = { ...saved, version: 4, title: 'Windmill' };
  const kept = keepMine(typed, now);
  assert.deepEqual(clashesOf(kept, now), []);
  assert.deepEqual(changesOf(kept, now), { title: 'The mill', icon: '⚓' });
  assert.equal(clashesOf(kept, { ...now, version: 5, title: 'Watermill' }).length, 1);
});

test('taking theirs gives up what clashes and nothing else', () => {
  const now = { ...saved, version: 4, title: 'Windmill', properties: {} };
  const draft: Draft = { ...typed, properties: { kind: 'json', text: '{"a":1}' } };
  const clashes = clashesOf(draft, now);
  assert.deepEqual(
    clashes.map(({ field }) => field),
    ['title', 'properties'],
  );
  assert.deepEqual(changesOf(takeTheirs(draft, now, clashes), now), { icon: '⚓' });
});

test('objects are alike by their names and values, lists by their order', () => {
  assert.equal(isAlike({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }), true);
  assert.equal(isAlike({ a: undefined }, { b: undefined }), false);
  assert.equal(isAlike([1, 2], [2, 1]), false);
  assert.equal(isAlike([], {}), false);
  assert.equal(isAlike(null, {}), false);
});

test('what is typed while it is saved clashes with nobody', () => {
  const changes = changesOf(typed, saved)!;
  const now = { ...saved, version: 4, title: 'The mill', icon: '⚓' };
  const going = afterSaving({ ...typed, texts: { ...typed.texts, title: 'The mill again' } }, changes);
  assert.deepEqual(clashesOf(going, now), []);
  assert.deepEqual(changesOf(going, now), { title: 'The mill again' });
  const theirs = { ...now, version: 5, title: 'Theirs' };
  assert.deepEqual(
    clashesOf(going, theirs).map(({ field }) => field),
    ['title'],
  );
});

test('what was typed and taken back is nothing to keep; a row of properties that was begun is', () => {
  assert.equal(isUntouched({ ...newDraft(saved), texts: { title: 'Mill' } }), true);
  assert.equal(isUntouched(typed), false);
  assert.equal(isUntouched({ ...newDraft(saved), properties: { kind: 'rows', rows: rowsOf({}) } }), false);
});

test('once changes are saved, the folder is what was typed: nothing is left to save', () => {
  const folder = { ...saved, name: 'Old mill', icon: null, description: 'Old.' };
  const changed = withChanges(folder, { title: null, icon: '⚓' }, 4);
  assert.deepEqual(savedOf(changed), { ...saved, version: 4, title: '', icon: '⚓' });
  const draft: Draft = { ...newDraft(saved), texts: { title: '', icon: '⚓' } };
  assert.equal(isDirty(draft, savedOf(changed)), false);
});
