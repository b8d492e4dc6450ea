/** Runs axe-core on a page in both themes, zoomed and on a phone. */

import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const wideSize = { width: 1280, height: 800 };
/** A window of 1280 × 800 pixels at a zoom of 200 %, and a phone. */
const smallSizes = { zoomed: { width: 640, height: 400 }, narrow: { width: 375, height: 700 } };
/** The rules to check again in the dark theme, which differs only in colors. */
const colorRules = ['color-contrast', 'link-in-text-block'];
/** Colors do not depend on the size of the window. */
const disabledColorRules = Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }]));
const allRules = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** Disabled by default, even if its tag is selected. */
const extraRules = { 'target-size': { enabled: true } };

type Rules = 'all' | 'colors' | 'layout';

async function violationsOn(page: Page, rules: Rules): Promise<string[]> {
  const options = {
    all: { runOnly: allRules, rules: extraRules },
    colors: { runOnly: colorRules },
    layout: { runOnly: allRules, rules: { ...extraRules, ...disabledColorRules } },
  }[rules];
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}

/** Popovers move to their new position shortly after the window is resized. */
async function readStableWidth(page: Page): Promise<number> {
  const widthNow = 'document.documentElement.scrollWidth';
  await page.waitForFunction(`${widthNow} <= innerWidth`, null, { timeout: 5_000 }).catch(() => {});
  return page.evaluate<number>(widthNow);
}

/** The window of the page must have the size `wideSize`, and has it again afterwards. Fails if the page is too wide for a window. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(axe.source);
  const light = await violationsOn(page, 'all');
  await page.emulateMedia({ colorScheme: 'dark' });
  // GraphiQL takes its colors from a class, which a script sets.
  await page.locator('body:not(:has(.graphiql-container)), body.graphiql-dark').waitFor();
  const dark = await violationsOn(page, 'colors');
  const small: Record<string, readonly string[]> = {};
  for (const [name, size] of Object.entries(smallSizes)) {
    await page.setViewportSize(size);
    assert.ok((await readStableWidth(page)) <= size.width, `the page is wider than ${size.width} pixels`);
    small[name] = await violationsOn(page, 'layout');
  }
  await page.setViewportSize(wideSize);
  assert.deepEqual({ light, dark, ...small }, { light: [], dark: [], zoomed: [], narrow: [] });
}
