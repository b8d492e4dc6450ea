import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FolderChange } from '../graph/live.tsx';
import { goneText } from './change-marks.ts';

const gone: FolderChange = {
  kind: 'DELETE',
  cursor: 'c',
  folderId: 'f',
  folder: null,
  oldParent: null,
  newParent: null,
  folderCount: null,
  at: '2026-01-31T12:00:00.000Z',
  by: { id: 'u', username: 'ada' },
};

test('a folder that is gone is called deleted only where that is known', () => {
  const cases: readonly (readonly [Partial<FolderChange>, isAdministrator: boolean, string])[] = [
    [{}, true, '“Lab” was deleted by ada.'],
    [{ by: null }, true, '“Lab” was deleted.'],
    [{}, false, '“Lab” is not there any more: ada deleted it, or moved it to where you do not see it.'],
    [{ by: null }, false, '“Lab” is not there any more.'],
    [{ at: null, by: null }, false, '“Lab” is not shown to you any more.'],
    [{ kind: 'UPDATE' }, true, '“Lab” is not there any more.'],
  ];
  for (const [change, isAdministrator, text] of cases) {
    assert.equal(goneText({ ...gone, ...change }, { name: 'Lab', isAdministrator }), text);
  }
  assert.equal(
    goneText({ ...gone, at: null, by: null }, { name: undefined, isAdministrator: false }),
    'The folder is not shown to you any more.',
  );
});
