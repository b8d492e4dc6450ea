import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Access, accessLevels, type AccessLevel } from './access.ts';

const { NONE, READ, WRITE, MANAGE } = accessLevels;

type Grants = Readonly<Record<string, AccessLevel>>;

/** The id of a folder is its path: "/a/b" is in "/a", which is in the root. */
const pathTo = (path: string): string[] =>
  path === '/' ? ['/'] : [...pathTo(path.replace(/\/[^/]*$/, '') || '/'), path];

const accessWith = (grants: Grants, isAdministrator = false) =>
  new Access({
    userId: 'user',
    groupIds: ['group'],
    isAdministrator,
    rootId: '/',
    grants: Object.entries(grants).map(([path, level]) => ({ pathIds: pathTo(path), level })),
  });

const levelAt = (access: Access, path: string) => access.levelAt(pathTo(path));
const isVisible = (access: Access, path: string) => access.isVisible(path, levelAt(access, path));

test('applies the nearest grant, whether it is higher or lower than the grants above', () => {
  const access = accessWith({ '/': READ, '/a': MANAGE, '/a/b': NONE, '/a/b/c': WRITE });
  assert.equal(levelAt(access, '/'), READ);
  assert.equal(levelAt(access, '/other/deep'), READ);
  assert.equal(levelAt(access, '/a/other'), MANAGE);
  assert.equal(levelAt(access, '/a/b'), NONE);
  assert.equal(levelAt(access, '/a/b/other'), NONE);
  assert.equal(levelAt(access, '/a/b/c/deep'), WRITE);
});

test('shows only the root to a user without grants', () => {
  const access = accessWith({});
  assert.equal(levelAt(access, '/'), NONE);
  assert.equal(isVisible(access, '/'), true);
  assert.equal(isVisible(access, '/a'), false);
  assert.deepEqual(access.childRule('/', NONE), { only: [] });
});

test('lets administrators manage everything, whatever their grants are', () => {
  const access = accessWith({ '/': NONE, '/a': READ }, true);
  assert.equal(levelAt(access, '/a/b'), MANAGE);
  assert.equal(access.levelOf('/a', NONE), MANAGE);
  assert.deepEqual(access.childRule('/', MANAGE), {});
  assert.equal(access.managesSomething, true);
});

test('shows the ancestors of a readable folder as passages', () => {
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

test('creates no passages for a grant of NONE', () => {
  const access = accessWith({ '/a/b/c': NONE });
  assert.equal(isVisible(access, '/a'), false);
  assert.deepEqual(access.childRule('/', NONE), { only: [] });
});

test('hides a folder with a grant of NONE, unless it leads to a readable folder', () => {
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

test('derives the level of a new folder from its parent', () => {
  const access = accessWith({ '/a': WRITE });
  assert.equal(access.levelOf('/a', NONE), WRITE);
  assert.equal(access.levelOf('/a/new', WRITE), WRITE);
});

test('reports whether the user manages any folder', () => {
  assert.equal(accessWith({ '/': WRITE, '/a/b': MANAGE }).managesSomething, true);
  assert.equal(accessWith({ '/': WRITE }).managesSomething, false);
});

test('counts the user and the groups of the user as subjects', () => {
  assert.deepEqual([...accessWith({}).subjectIds], ['user', 'group']);
});

test('gives a child rule that lists exactly the visible children', () => {
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
        for (const child of every.filter((path) => path !== '/' && pathTo(path).at(-2) === parent)) {
          const isListed = only ? only.includes(child) : !except?.includes(child);
          assert.equal(isListed, isVisible(access, child), child);
        }
      }
    }),
    { numRuns: 500 },
  );
});
