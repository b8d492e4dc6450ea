/**
 * axe-core finds nothing to complain of in anything that the console shows, in either theme, and nothing of it is wider
 * than a telephone. No rule is left out. `npm test` looks at each screen and at one view of each kind that opens above
 * or inside one; `npm run test:long` at all views.
 */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { selectLength } from '../support/run-length.ts';
import { ConsoleBed, type Who } from './console-bed.ts';
import { show, views } from './views.ts';

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Of each kind one: a refusal, an empty list, unsaved work, a form, a question, a menu, found items, a message. */
const examples = [
  'sign-in-refused',
  'folders-empty',
  'folder-unsaved',
  'new-folder',
  'delete',
  'folder-menu',
  'palette-found',
  'message',
];
const looked = selectLength({
  short: views.filter(({ name, isPictured }) => isPictured ?? examples.includes(name)),
  long: views,
});

const wide = { width: 1280, height: 800 };
const narrow = { width: 380, height: 700 };
/** What is asked of the other theme: nothing but the colours is another there. */
const rulesOfColour = ['color-contrast', 'link-in-text-block'];
const everyRule = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** Off by itself although its tag is asked for. */
const further = { 'target-size': { enabled: true } };

async function violationsOn(page: Page, isOtherTheme = false): Promise<string[]> {
  const options = isOtherTheme ? { runOnly: rulesOfColour } : { runOnly: everyRule, rules: further };
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}

/** What lies above the page takes its new place a moment after the window is another. */
async function widthOnceSettled(page: Page): Promise<number> {
  const widthNow = 'document.documentElement.scrollWidth';
  await page.waitForFunction(`${widthNow} <= innerWidth`, null, { timeout: 5_000 }).catch(() => {});
  return page.evaluate<number>(widthNow);
}

describe('the looks of the console on SQLite', () => {
  let bed: ConsoleBed;
  const tabs = new Map<Who | null, Page>();
  before(async () => {
    bed = await ConsoleBed.start();
  });
  after(async () => {
    await bed.closeBrowsers();
    await bed.stop();
  });
  afterEach(() => bed.assertNoFaults());

  const tabOf = async (who: Who | null) => {
    const tab = tabs.get(who) ?? (await bed.newTab());
    tabs.set(who, tab);
    return tab;
  };

  for (const view of looked) {
    test(`${view.name} can be read and used by everybody: light, dark, and on a small screen`, async () => {
      bed.expectFaults(/status of 401 .*\/login\)$/);
      const page = await tabOf(view.who === undefined ? 'admin' : view.who);
      await page.emulateMedia({ colorScheme: 'light' });
      await show(bed, page, view);
      await page.evaluate(axe.source);
      const light = await violationsOn(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await violationsOn(page, true);
      await page.setViewportSize(narrow);
      const width = await widthOnceSettled(page);
      await page.setViewportSize(wide);
      assert.deepEqual({ light, dark }, { light: [], dark: [] });
      assert.ok(width <= narrow.width, `it is ${width} pixels wide`);
    });
  }
});
