/** All views of the console: each screen, each dialog, and each empty state. */

import type { Page } from 'playwright-core';
import type { ConsoleTestbed, Who } from './console-testbed.ts';

export interface View {
  /** The name of the view and of its screenshots. */
  readonly name: string;
  /** The user, by default the administrator; null if the view is shown before signing in. */
  readonly who?: Who | null;
  /**
   * The path. Ids are written as names in braces: `/folders/{/Places}`, `/users/{user ada}`, `/groups/{group
   * Auditors}`.
   */
  readonly path: string;
  /** The steps that open the view. */
  readonly open?: (page: Page, testbed: ConsoleTestbed) => Promise<unknown>;
  /** A text that appears once the view has loaded. */
  readonly expectedText?: string;
  /** Whether the documentation contains screenshots of the view. */
  readonly hasScreenshots?: true;
}

const campus = '/folders/{/Places/Harbour Campus}';
const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name }).filter({ visible: true }).first().click();
const pressInFolder = (name: string) => (page: Page) =>
  page.getByRole('region', { name: 'Folder', exact: true }).getByRole('button', { name }).click();
const key = (name: string) => (page: Page) => page.keyboard.press(name);

export const views: readonly View[] = [
  { name: 'sign-in', who: null, path: '/', hasScreenshots: true },
  {
    name: 'sign-in-refused',
    who: null,
    path: '/',
    async open(page) {
      await page.getByLabel('User name').fill('ada');
      await page.getByLabel('Password').fill('quince in brown paper');
      await press('Sign in')(page);
    },
    expectedText: 'The user name or the password is wrong.',
  },

  {
    name: 'sign-in-single-sign-on',
    who: null,
    path: '/',
    async open(page) {
      const singleSignOn = { name: 'Keycloak' };
      await page.route('**/login/methods', (route) =>
        route.fulfill({ json: { password: true, singleSignOn, passkeys: false } }),
      );
      await page.goto(page.url().replace(/\/console\/.*/, '/console/sign-in?sso_code=forged'));
      await page.getByRole('button', { name: 'Sign in with Keycloak' }).waitFor();
      await page.unroute('**/login/methods');
    },
    expectedText: 'was not started in this tab',
  },

  {
    name: 'sign-in-methods',
    who: null,
    path: '/',
    async open(page) {
      const singleSignOn = { name: 'Keycloak' };
      await page.route('**/login/methods', (route) =>
        route.fulfill({ json: { password: true, singleSignOn, passkeys: true } }),
      );
      // Browsers offer no passkeys to an IP address.
      await page.goto(page.url().replace('127.0.0.1', 'localhost'));
      await page.getByRole('button', { name: 'Sign in with Keycloak' }).waitFor();
      await page.unroute('**/login/methods');
    },
    expectedText: 'Sign in with a passkey',
    hasScreenshots: true,
  },

  { name: 'folders', path: campus, hasScreenshots: true },
  { name: 'folders-root', path: '/folders', expectedText: 'Root' },
  {
    name: 'folders-marked',
    path: '/folders/{/Projects/Library move/Crates}',
    async open(page, { demo, tree }) {
      const { authToken } = await tree.server.logIn({ username: 'ada', password: demo.password });
      const id = await demo.idOf('/Projects/Library move/Shelf plan');
      await tree.mutate('updateFolder', { id, title: `Shelves by ${Math.random()}` }, 'cursor', authToken);
      await page.getByRole('treeitem').getByText('by ada, just now').waitFor();
    },
  },
  {
    name: 'folders-empty',
    who: 'margaret',
    path: '/folders',
    expectedText: 'You do not have access to any folder',
  },
  { name: 'folders-shared', who: 'ada', path: '/folders/shared', expectedText: 'Projects' },
  { name: 'folder-unsaved', path: campus, open: (page) => page.getByLabel('Title').fill('Harbour') },
  { name: 'folder-json', path: campus, open: press('Edit as JSON') },
  { name: 'folder-children', path: `${campus}?tab=folders`, expectedText: 'Floor 11', hasScreenshots: true },
  { name: 'folder-childless', path: '/folders/{/Places/Old Mill}?tab=folders' },
  {
    name: 'access',
    path: '/folders/{/Places/Harbour Campus/Floor 2}?tab=access&person={user linus}',
    expectedText: 'decides',
    hasScreenshots: true,
  },
  { name: 'history', path: `${campus}?tab=history`, expectedText: 'ada', hasScreenshots: true },
  { name: 'folder-unknown', path: '/folders/00000000-0000-4000-8000-000000000000' },
  { name: 'folder-read-only', who: 'grace', path: campus, expectedText: 'You can read this folder' },
  {
    name: 'folder-passage',
    who: 'ada',
    path: '/folders/{/Places}',
    expectedText: 'You see only the name of this folder',
  },
  { name: 'new-folder', path: campus, open: pressInFolder('New folder') },
  { name: 'rename', path: campus, open: pressInFolder('Rename…') },
  {
    name: 'move',
    path: '/folders/{/Projects/Roof 2027}',
    async open(page) {
      await pressInFolder('Move to…')(page);
      await page.getByRole('dialog').getByRole('treeitem', { name: 'Archive' }).click();
    },
    expectedText: 'Selected: /Archive',
    hasScreenshots: true,
  },
  { name: 'delete', path: campus, open: pressInFolder('Delete…'), expectedText: 'folders will be deleted' },
  { name: 'grant', path: `${campus}?tab=access`, open: press('Grant access…') },
  {
    name: 'folder-menu',
    path: campus,
    open: (page) => page.getByRole('treeitem', { name: 'Hill Campus' }).click({ button: 'right' }),
  },
  {
    name: 'search',
    path: campus,
    open: (page) => page.getByRole('combobox', { name: 'Find a folder' }).fill('room 2'),
    expectedText: 'Room 2.01',
    hasScreenshots: true,
  },
  {
    name: 'search-nothing',
    path: campus,
    open: (page) => page.getByRole('combobox', { name: 'Find a folder' }).fill('zzzz'),
    expectedText: 'No folder matches “zzzz”',
  },
  {
    name: 'message',
    path: '/folders/{/Projects/Zero waste}',
    async open(page) {
      await page.getByLabel('Description').fill(`Jars, not bags. ${await page.title()} ${Math.random()}`);
      await press('Save')(page);
    },
    expectedText: 'Changed “Zero waste”',
  },

  { name: 'trash', path: '/trash', expectedText: 'Boathouse', hasScreenshots: true },
  {
    name: 'trash-empty',
    who: 'margaret',
    path: '/trash',
    expectedText: 'No folders that you can restore',
  },
  { name: 'restore', path: '/trash', open: press('More actions for Boathouse') },

  { name: 'users', path: '/users', expectedText: 'margaret', hasScreenshots: true },
  { name: 'users-none', path: '/users?text=zzzz', expectedText: 'No user name' },
  { name: 'new-user', path: '/users', open: press('New user') },
  {
    name: 'user',
    path: '/users/{user linus}?folder={/Places/Harbour Campus/Floor 2}',
    expectedText: 'Decided by',
    hasScreenshots: true,
  },
  {
    name: 'new-service-account',
    path: '/users',
    async open(page) {
      await press('New user')(page);
      await page.getByRole('dialog').getByRole('button', { name: /Kind/ }).click();
      await page.getByRole('option', { name: /^Service account/ }).click();
    },
  },
  { name: 'service-account', path: '/users/{user robot}', expectedText: 'sensors' },
  {
    name: 'convert-user',
    path: '/users/{user ada}',
    async open(page) {
      await press('More actions for ada')(page);
      await page.getByRole('menuitem', { name: 'Convert to a service account…' }).click();
    },
    expectedText: 'All sessions end immediately.',
  },
  { name: 'user-menu', path: '/users/{user ada}', open: press('More actions for ada') },
  { name: 'user-unknown', path: '/users/nobody', expectedText: 'There is no such user' },
  { name: 'groups', path: '/groups', expectedText: 'Caretakers', hasScreenshots: true },
  { name: 'groups-none', path: '/groups?text=zzzz', expectedText: 'No group' },
  { name: 'group', path: '/groups/{group Caretakers}', expectedText: 'linus', hasScreenshots: true },
  { name: 'new-group', path: '/groups', open: press('New group') },
  { name: 'sessions', path: '/sessions', expectedText: 'admin', hasScreenshots: true },
  { name: 'revoke', path: '/sessions', open: press(/^Revoke .* of /) },
  { name: 'sign-ins', path: '/sign-ins', expectedText: 'admin', hasScreenshots: true },
  { name: 'sign-ins-none', path: '/sign-ins?method=passkey', expectedText: 'No matching sign-ins' },
  { name: 'api-keys', path: '/api-keys', expectedText: 'sensors', hasScreenshots: true },
  {
    name: 'api-key-details',
    path: '/api-keys',
    open: (page) => page.getByRole('rowheader').getByRole('button', { name: 'sensors' }).click(),
    expectedText: '10.20.0.0/16',
  },
  { name: 'revoke-api-key', path: '/api-keys', open: press('Revoke sensors of robot') },
  { name: 'new-api-key', path: '/account', open: press('Create API key…') },
  {
    name: 'new-api-key-for-folder',
    path: '/users/{user robot}',
    async open(page) {
      await press('Create API key…')(page);
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Folders/ })
        .click();
      await page.getByRole('option', { name: /^One folder/ }).click();
    },
    expectedText: 'No folder is selected.',
  },
  {
    name: 'created-api-key',
    path: '/account',
    async open(page) {
      await press('Create API key…')(page);
      await page.getByLabel('Name').fill('deploy');
      await page.getByRole('dialog').getByRole('button', { name: 'Create API key', exact: true }).click();
    },
    expectedText: 'You cannot see it again.',
  },
  { name: 'account', path: '/account', expectedText: 'New password again', hasScreenshots: true },

  { name: 'overview', path: '/overview', expectedText: 'The last hour', hasScreenshots: true },
  { name: 'journal', path: '/journal', expectedText: 'tim', hasScreenshots: true },
  { name: 'journal-filters', path: '/journal', open: press(/Filter/) },
  { name: 'journal-calendar', path: '/journal', open: press(/Until/) },
  { name: 'journal-entry', path: '/journal', open: press(/^Details of entry/) },
  {
    name: 'journal-none',
    path: '/journal?until=1999-12-31T00:00:00.000Z',
    expectedText: 'No matching entries',
  },
  { name: 'keys', path: '/keys', hasScreenshots: true },
  { name: 'settings', path: '/settings', expectedText: 'ESPALIER_PORT', hasScreenshots: true },
  { name: 'settings-none', path: '/settings?text=zzzz' },

  {
    name: 'explorer',
    path: '/explorer',
    async open(page) {
      await page.locator('.monaco-editor').first().waitFor();
      await press(/^Run/)(page);
    },
    expectedText: '"isAdministrator"',
    hasScreenshots: true,
  },
  {
    name: 'explorer-schema',
    path: '/explorer',
    async open(page) {
      await page.locator('.monaco-editor').first().waitFor();
      await press('Schema')(page);
    },
    expectedText: 'FolderOrderField',
  },
  { name: 'api', path: '/api', expectedText: '/login/refresh', hasScreenshots: true },
  { name: 'api-schema', path: '/api/schema', expectedText: 'AccessLevel', hasScreenshots: true },

  { name: 'palette', path: '/users', open: press(/^Search or run/), hasScreenshots: true },
  {
    name: 'palette-found',
    path: '/users',
    async open(page) {
      await press(/^Search or run/)(page);
      await page.keyboard.type('harb');
    },
    expectedText: 'Harbour Campus',
  },
  { name: 'shortcuts', path: '/folders', open: key('?'), hasScreenshots: true },
  { name: 'account-menu', path: '/users', open: press('Account of admin') },
  {
    name: 'no-access',
    who: 'grace',
    path: '/users',
    expectedText: 'You do not have access to this',
    hasScreenshots: true,
  },
  { name: 'not-found', path: '/nothing', expectedText: 'There is no such page' },
];

/** Opens a view in a tab without a session or with that of its user. Resolves when the view has loaded. */
export async function openView(testbed: ConsoleTestbed, page: Page, view: View): Promise<void> {
  const { who = 'admin' } = view;
  await page.goto(testbed.address(await pathOf(testbed, view.path)));
  const form = page.getByRole('heading', { name: 'Sign in to Espalier' });
  const frame = page.getByRole('navigation', { name: 'Screens' });
  await form.or(frame).waitFor();
  if (who !== null) {
    if (await form.isVisible()) await testbed.signIn(page, who);
    await testbed.waitUntilLive(page);
    await waitUntilLoaded(page);
  }
  await view.open?.(page, testbed);
  if (view.expectedText !== undefined) {
    await page.getByText(view.expectedText).filter({ visible: true }).first().waitFor();
  }
  await waitUntilLoaded(page);
}

/** Waits until no loading indicator is visible. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('main, [role=dialog]').filter({ visible: true }).first().waitFor();
  await page.locator('.loading, .tree-unread').first().waitFor({ state: 'detached' });
}

async function pathOf({ demo }: ConsoleTestbed, path: string): Promise<string> {
  let resolvedPath = path;
  for (const [placeholder, name] of path.matchAll(/\{(.*?)\}/g)) {
    const [, kind, personName] = /^(user|group) (.*)$/.exec(name!) ?? [];
    const id =
      kind === 'user'
        ? demo.userIds[personName as keyof typeof demo.userIds]
        : kind === 'group'
          ? demo.groupIds[personName as keyof typeof demo.groupIds]
          : await demo.idOf(name!);
    resolvedPath = resolvedPath.replace(placeholder, id);
  }
  return resolvedPath;
}
