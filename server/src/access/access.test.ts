import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessLevels, type AccessLevel } from './access.ts';
import { Access } from './access.ts';

const { NONE, READ, WRITE, MANAGE } = accessLevels;

type Grants = Readonly<Record<string, AccessLevel>>;

/** A folder is named by the way to it: "/a/b" is in "/a", which is in the root. */
const wayTo = (path: string): string[] =>
  path === '/' ? ['/'] : [...wayTo(path.replace(/\/[^/]*$/, '') || '/'), path];

const accessWith = (grants: Grants, isAdministrator = false) =>
  new Access({
    userId: 'user',
    groupIds: ['group'],
    isAdministrator,
    rootId: '/',
    grants: Object.entries(grants).map(([path, level]) => ({ way: wayTo(path), level })),
  });

const levelAt = (access: Access, path: string) => access.levelAt(wayTo(path));
const isVisible = (access: Access, path: string) => access.isVisible(path, levelAt(access, path));

test('the nearest grant decides, be it higher or lower than those above', () => {
  const access = accessWith({ '/': READ, '/a': MANAGE, '/a/b': NONE, '/a/b/c': WRITE });
  assert.equal(levelAt(access, '/'), READ);
  assert.equal(levelAt(access, '/other/deep'), READ);
  assert.equal(levelAt(access, '/a/other'), MANAGE);
  assert.equal(levelAt(access, '/a/b'), NONE);
  assert.equal(levelAt(access, '/a/b/other'), NONE);
  assert.equal(levelAt(access, '/a/b/c/deep'), WRITE);
});

test('without a grant the level is NONE, and only the root is seen', () => {
  const access = accessWith({});
  assert.equal(levelAt(access, '/'), NONE);
  assert.equal(isVisible(access, '/'), true);
  assert.equal(isVisible(access, '/a'), false);
  assert.deepEqual(access.childRule('/', NONE), { only: [] });
});

test('administrators manage everything, whatever grants say', () => {
  const access = accessWith({ '/': NONE, '/a': READ }, true);
  assert.equal(levelAt(access, '/a/b'), MANAGE);
  assert.equal(access.levelOf('/a', NONE), MANAGE);
  assert.deepEqual(access.childRule('/', MANAGE), {});
  assert.equal(access.managesSomething, true);
});

test('whatever lies on the way to something readable is a passage', () => {
  const access = accessWith({ '/a/b/c': READ });
  for (const path of ['/', '/a', '/a/b']) {
    assert.equal(levelAt(access, path), NONE);
    assert.equal(isVisible(access, path), true);
  }
  assert.equal(isVisible(access, '/a/x'), false);
  assert.deepEqual(access.childRule('/', NONE), { only: ['/a'] });
  assert.deepEqual(access.childRule('/a', NONE), { only: ['/a/b'] });
  assert.deepEqual(access.childRule('/a/b', NONE), { only: ['/a/b/c'] });
  assert.deepEqual(access.childRule('/a/b/c', READ), {});
});

test('a grant of NONE opens no passage', () => {
  const access = accessWith({ '/a/b/c': NONE });
  assert.equal(isVisible(access, '/a'), false);
  assert.deepEqual(access.childRule('/', NONE), { only: [] });
});

test('amid what can be read, a closed folder is hidden, unless it leads to something open', () => {
  const access = accessWith({
    '/': READ,
    '/shut': NONE,
    '/half': NONE,
    '/half/open': WRITE,
    '/half/shut': NONE,
  });
  assert.deepEqual(access.hiddenIds.toSorted(), ['/half/shut', '/shut']);
  assert.deepEqual(access.nameOnlyIds, ['/half']);
  assert.deepEqual(access.childRule('/', READ), { except: ['/shut'] });
  assert.deepEqual(access.childRule('/half', NONE), { only: ['/half/open'] });
  assert.equal(isVisible(access, '/half'), true);
  assert.equal(isVisible(access, '/half/other'), false);
});

test('a level that is inherited can be told before the folder is there', () => {
  const access = accessWith({ '/a': WRITE });
  assert.equal(access.levelOf('/a', NONE), WRITE);
  assert.equal(access.levelOf('/a/new', WRITE), WRITE);
});

test('whoever manages any folder manages something', () => {
  assert.equal(accessWith({ '/': WRITE, '/a/b': MANAGE }).managesSomething, true);
  assert.equal(accessWith({ '/': WRITE }).managesSomething, false);
});

test('grants concern a user and the groups the user is in', () => {
  assert.deepEqual([...accessWith({}).subjectIds], ['user', 'group']);
});

test('the rule for children says of each child what its own way says', () => {
  const steps = ['a', 'b', 'c'];
  const paths = ['/', ...steps.flatMap((one) => [`/${one}`, ...steps.map((two) => `/${one}/${two}`)])];
  const deep = [...paths, ...paths.slice(1).flatMap((path) => steps.map((step) => `${path}/${step}`))];
  const every = [...new Set(deep)];
  const levels = fc.constantFrom<AccessLevel>(NONE, READ, WRITE, MANAGE);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...every), levels, { maxKeys: 8 }), (grants) => {
      const access = accessWith(grants);
      for (const parent of every.filter((path) => isVisible(access, path))) {
        const { only, except } = access.childRule(parent, levelAt(access, parent));
        for (const child of every.filter((path) => path !== '/' && wayTo(path).at(-2) === parent)) {
          const isShown = only ? only.includes(child) : !except?.includes(child);
          assert.equal(isShown, isVisible(access, child), child);
        }
      }
    }),
    { numRuns: 500 },
  );
});
