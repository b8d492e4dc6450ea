import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatJournalAction,
  formatJournalEntry,
  formatActor,
  type JournalEntry,
  type SentencePart,
} from './journal-sentence.ts';

const entry = (details: Partial<JournalEntry>): JournalEntry => ({
  number: 7,
  at: '2026-11-15T16:50:07.123Z',
  kind: 'UPDATE_FOLDER',
  byId: 'u1',
  by: { id: 'u1', username: 'ada' },
  byApiKeyId: null,
  byApiKey: null,
  folderId: null,
  folder: null,
  path: null,
  formerPath: null,
  userId: null,
  user: null,
  groupId: null,
  group: null,
  sessionId: null,
  before: null,
  after: null,
  ...details,
});

const textOf = (parts: readonly SentencePart[]) => parts.map(({ text }) => text).join('');

const folder = { folderId: 'f1', folder: { id: 'f1', name: 'Mill', path: '/Places/Mill' } };
const grace = { userId: 'u2', user: { id: 'u2', username: 'grace' } };
const caretakers = { groupId: 'g1', group: { id: 'g1', name: 'Caretakers' } };

const sentences: readonly [Partial<JournalEntry>, string][] = [
  [{ kind: 'CREATE_FOLDER', ...folder, after: { name: 'Mill' } }, 'ada created “Mill”'],
  [{ ...folder, before: { name: 'Old Mill' }, after: { name: 'Mill' } }, 'ada renamed “Old Mill” to “Mill”'],
  [
    { ...folder, before: { title: null, icon: null }, after: { title: 'M', icon: '⚓' } },
    'ada changed the title and icon of “Mill”',
  ],
  [
    { ...folder, before: { name: 'A', properties: '{}' }, after: { name: 'B', properties: '{"a":1}' } },
    'ada renamed “A” to “B”, and changed its properties',
  ],
  [
    { kind: 'MOVE_FOLDER', ...folder, before: { parentId: 'p' }, after: { parentId: 'q', name: 'Mill' } },
    'ada moved “Mill” to another folder',
  ],
  [
    { kind: 'MOVE_FOLDER', ...folder, formerPath: '/Old/Mill', path: '/Places/Mill' },
    'ada moved “Mill” from /Old to /Places',
  ],
  [
    { kind: 'MOVE_FOLDER', ...folder, formerPath: '/Old Mill', path: '/Places/Windmill' },
    'ada moved “Old Mill” from / to /Places as “Windmill”',
  ],
  [{ kind: 'CREATE_FOLDER', ...folder, path: '/Places/Old Mill' }, 'ada created “Old Mill”'],
  [{ kind: 'DELETE_FOLDER', folderId: 'f9', before: { name: 'Mill' } }, 'ada deleted “Mill”'],
  [{ kind: 'RESTORE_FOLDER', ...folder, after: { name: 'Mill' } }, 'ada restored “Mill”'],
  [{ kind: 'IMPORT_FOLDERS', ...folder, after: { count: 1200 } }, 'ada imported 1,200 folders into “Mill”'],
  [
    { kind: 'PURGE_FOLDER', byId: null, by: null, folderId: 'f9', before: { name: 'Mill' } },
    'The server permanently deleted “Mill”, after its time in the trash',
  ],
  [{ kind: 'ENROL_SECOND_FACTOR', after: { factor: 'TOTP' } }, 'ada set up an authenticator app'],
  [
    { kind: 'ENROL_SECOND_FACTOR', after: { factor: 'PASSKEY', name: 'Phone' } },
    'ada added the passkey “Phone”',
  ],
  [{ kind: 'REMOVE_SECOND_FACTOR', before: { factor: 'TOTP' } }, 'ada removed their authenticator app'],
  [
    { kind: 'REMOVE_SECOND_FACTOR', before: { factor: 'PASSKEY', name: 'Phone' } },
    'ada removed the passkey “Phone”',
  ],
  [{ kind: 'RESET_SECOND_FACTOR', ...grace }, 'ada reset the second factor of grace'],
  [{ kind: 'CREATE_RECOVERY_CODES' }, 'ada created new recovery codes'],
  [{ kind: 'USE_RECOVERY_CODE', after: { left: 1 } }, 'ada used a recovery code, with 1 code left'],
  [
    { kind: 'GRANT_ACCESS', ...folder, ...grace, after: { level: 'WRITE' } },
    'ada gave grace write access to “Mill”',
  ],
  [
    { kind: 'GRANT_ACCESS', ...folder, ...grace, before: { level: 'WRITE' }, after: { level: 'READ' } },
    'ada changed the access of grace to “Mill” from write to read',
  ],
  [
    { kind: 'GRANT_ACCESS', ...folder, ...caretakers, after: { level: 'NONE' } },
    'ada blocked the access of the group “Caretakers” to “Mill”',
  ],
  [
    { kind: 'REVOKE_ACCESS', ...folder, ...caretakers, before: { level: 'READ' } },
    'ada removed read access to “Mill” from the group “Caretakers”',
  ],
  [
    { kind: 'CREATE_USER', ...grace, after: { username: 'grace', isAdministrator: true } },
    'ada created the administrator grace',
  ],
  [
    { kind: 'UPDATE_USER', ...grace, before: { isDisabled: false }, after: { isDisabled: true } },
    'ada disabled grace',
  ],
  [
    { kind: 'UPDATE_USER', ...grace, before: { username: 'gh' }, after: { username: 'grace' } },
    'ada renamed the user “gh” to “grace”',
  ],
  [{ kind: 'CHANGE_PASSWORD', userId: 'u1' }, 'ada changed their password'],
  [{ kind: 'CHANGE_PASSWORD', ...grace }, 'ada reset the password of grace'],
  [{ kind: 'DELETE_USER', userId: 'u9', before: { username: 'tim' } }, 'ada deleted the user tim'],
  [{ kind: 'CREATE_GROUP', ...caretakers }, 'ada created the group “Caretakers”'],
  [
    { kind: 'UPDATE_GROUP', ...caretakers, before: { name: 'A' }, after: { name: 'B' } },
    'ada renamed the group “A” to “B”',
  ],
  [{ kind: 'DELETE_GROUP', groupId: 'g9', before: { name: 'A' } }, 'ada deleted the group “A”'],
  [{ kind: 'ADD_TO_GROUP', ...grace, ...caretakers }, 'ada added grace to the group “Caretakers”'],
  [{ kind: 'REMOVE_FROM_GROUP', ...grace, groupId: 'g9' }, 'ada removed grace from a deleted group'],
  [{ kind: 'END_SESSION', userId: 'u1', after: { because: 'logout' } }, 'ada signed out'],
  [
    { kind: 'END_SESSION', ...grace, after: { because: 'revoked', count: 3 } },
    'ada ended 3 sessions of grace',
  ],
  [
    { kind: 'END_SESSION', byId: null, by: null, ...grace, after: { because: 'replay' } },
    'The server ended a session of grace, because a refresh token was used twice',
  ],
  [
    { kind: 'END_SESSION', byId: null, by: null, ...grace, after: { because: 'limit' } },
    'The server ended a session of grace, because the user had too many sessions',
  ],
  [
    { kind: 'CREATE_USER', ...grace, after: { username: 'grace', kind: 'SERVICE' } },
    'ada created the service account grace',
  ],
  [
    { kind: 'UPDATE_USER', ...grace, before: { kind: 'PERSON' }, after: { kind: 'SERVICE' } },
    'ada converted grace to a service account',
  ],
  [
    { kind: 'CREATE_API_KEY', byId: 'u2', by: grace.user, ...grace, after: { name: 'deploy' } },
    'grace created the API key “deploy”',
  ],
  [
    { kind: 'CREATE_FOLDER', ...folder, byApiKeyId: 'k1', byApiKey: { name: 'deploy' } },
    'ada with the API key “deploy” created “Mill”',
  ],
  [{ kind: 'CREATE_FOLDER', ...folder, byApiKeyId: 'k1' }, 'ada with an API key created “Mill”'],
  [{ kind: 'ROTATE_KEY', byId: null, by: null }, 'The server created a new signing key'],
  [{ kind: 'RETIRE_KEY', by: null }, 'A deleted user retired a signing key'],
  [
    { kind: 'LINK_IDENTITY', ...grace, after: { singleSignOn: 'https://login.example.com', name: 'ada' } },
    'ada linked grace with the account “ada” at “https://login.example.com”',
  ],
  [
    { kind: 'UNLINK_IDENTITY', ...grace, before: { singleSignOn: 'https://login.example.com', name: 'g' } },
    'ada unlinked grace from the account “g” at “https://login.example.com”',
  ],
  [{ kind: 'VIEW_AS', ...grace }, 'ada viewed the tree as grace'],
  [
    { kind: 'CREATE_API_KEY', ...grace, after: { name: 'deploy' } },
    'ada created the API key “deploy” for grace',
  ],
  [
    { kind: 'REVOKE_API_KEY', ...grace, before: { name: 'deploy' } },
    'ada revoked the API key “deploy” of grace',
  ],
];

for (const [details, sentence] of sentences) {
  test(`formats ${details.kind ?? 'UPDATE_FOLDER'} as: ${sentence}`, () => {
    assert.equal(textOf(formatJournalEntry(entry(details))), sentence);
  });
}

test('calls the folder "it" on its own page', () => {
  const about = { isAboutFolder: true };
  const renamed = entry({ ...folder, before: { name: 'A' }, after: { name: 'B', title: 'T' } });
  const sentence = (details: JournalEntry) => textOf(formatJournalEntry(details, about));
  assert.equal(sentence(renamed), 'ada renamed it from “A” to “B”, and changed its title');
  assert.equal(sentence(entry({ kind: 'DELETE_FOLDER', ...folder })), 'ada deleted it');
  assert.equal(sentence(entry({ ...folder, before: {}, after: { icon: '⚓' } })), 'ada changed its icon');
});

test('formats the actor and the action separately', () => {
  const made = entry({ kind: 'CREATE_FOLDER', ...folder, after: { name: 'Mill' } });
  assert.equal(textOf(formatActor(made)), 'ada');
  assert.equal(textOf(formatJournalAction(made)), 'Created “Mill”');
});

test('links names and the parents of a move', () => {
  const links = (details: Partial<JournalEntry>) =>
    formatJournalEntry(entry(details)).flatMap(({ text, to }) => (to === undefined ? [] : [[text, to]]));
  assert.deepEqual(links({ kind: 'GRANT_ACCESS', ...folder, ...caretakers, after: { level: 'READ' } }), [
    ['ada', '/users/u1'],
    ['“Caretakers”', '/groups/g1'],
    ['“Mill”', '/folders/f1'],
  ]);
  const renamed = { before: { username: 'gh' }, after: { username: 'grace' } };
  assert.deepEqual(links({ kind: 'UPDATE_USER', by: null, ...grace, ...renamed }), [
    ['“grace”', '/users/u2'],
  ]);
  const moved = {
    before: { parentId: 'p' },
    after: { parentId: 'q' },
    formerPath: '/A/Mill',
    path: '/B/Mill',
  };
  assert.deepEqual(links({ kind: 'MOVE_FOLDER', by: null, ...folder, ...moved }), [
    ['“Mill”', '/folders/f1'],
    ['/A', '/folders/p'],
    ['/B', '/folders/q'],
  ]);
  assert.deepEqual(links({ kind: 'DELETE_FOLDER', by: null, folderId: 'f9', before: { name: 'Mill' } }), []);
});
