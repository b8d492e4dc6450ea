/**
 * axe-core finds no violation in any view of the console, in both themes, on a phone and at a zoom of 200 %. No view is wider
 * than the window. `npm test` checks each screen and one view of each kind of dialog or message; `npm run test:long` checks all
 * views.
 */

import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { selectLength } from '../support/run-length.ts';
import { assertAccessible } from './accessibility.ts';
import { ConsoleTestbed, type Who } from './console-testbed.ts';
import { openView, views } from './views.ts';

/**
 * One of each kind: a refusal, an empty list, unsaved work, a form, a confirmation, a menu, search results, a message, a panel.
 */
const exampleViews = [
  'sign-in-refused',
  'sign-in-single-sign-on',
  'folders-empty',
  'folders-shared',
  'folder-unsaved',
  'new-folder',
  'new-api-key',
  'created-api-key',
  'delete',
  'folder-menu',
  'explorer-schema',
  'palette-found',
  'message',
];
const checkedViews = selectLength({
  short: views.filter(({ name, hasScreenshots }) => hasScreenshots ?? exampleViews.includes(name)),
  long: views,
});

describe('the accessibility of the console on SQLite', () => {
  let testbed: ConsoleTestbed;
  const tabs = new Map<Who | null, Page>();
  before(async () => {
    testbed = await ConsoleTestbed.start();
  });
  after(async () => {
    await testbed.closeBrowsers();
    await testbed.stop();
  });
  afterEach(() => testbed.assertNoFaults());

  const tabOf = async (who: Who | null) => {
    const tab = tabs.get(who) ?? (await testbed.newTab());
    tabs.set(who, tab);
    return tab;
  };

  for (const view of checkedViews) {
    test(`the view ${view.name} passes every axe rule in both themes, zoomed and on a phone`, async () => {
      testbed.expectFaults(/status of 401 .*\/login\)$/);
      const page = await tabOf(view.who === undefined ? 'admin' : view.who);
      await page.emulateMedia({ colorScheme: 'light' });
      await openView(testbed, page, view);
      await assertAccessible(page);
    });
  }
});
