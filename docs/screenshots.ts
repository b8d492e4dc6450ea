/**
 * Makes the pictures of the console under docs/images/, in both themes, from a server with a small estate. Each run makes the
 * same ones, except for ids. `npm run screenshots -- users journal` makes only those.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ConsoleTestbed, type Who } from '../tests/console/console-testbed.ts';
import { openView, views, type View } from '../tests/console/views.ts';
import { spendAnHour } from './screenshots-activity.ts';
import { smallPng } from './small-png.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/images');
const themes = ['light', 'dark'] as const;
const wide = { width: 1280, height: 800 };
const small = { width: 380, height: 760 };
/** Of these there is one on a telephone, too. */
const smallViews = ['folders', 'overview'];

const asked = process.argv.slice(2);
const chosen = views.filter(({ name, hasScreenshots }) =>
  asked.length > 0 ? asked.includes(name) : hasScreenshots,
);
const unknown = asked.filter((name) => !views.some((view) => view.name === name));
// Its charts tell of the requests of all the others otherwise.
const inTurn = chosen.toSorted(
  (one, other) => Number(other.name === 'overview') - Number(one.name === 'overview'),
);
if (unknown.length > 0) throw new Error(`There is no view ${unknown.join(', ')}.`);

mkdirSync(folder, { recursive: true });
// As after a first start: the address is in some of the pictures.
const bed = await ConsoleTestbed.start({ settings: { PORT: '8080' } });
try {
  await spendAnHour(bed);
  const tabs = new Map<Who | null, Page>();
  for (const view of inTurn) {
    const who = view.who === undefined ? 'admin' : view.who;
    const page = tabs.get(who) ?? (await openTab());
    tabs.set(who, page);
    for (const theme of themes) await picture(page, view, theme);
  }
} finally {
  await bed.closeBrowsers();
  await bed.stop();
}

async function openTab(): Promise<Page> {
  const page = await bed.newTab(wide);
  await page.clock.setFixedTime(bed.tree.testbed.clock.now());
  // What is only so on this machine.
  const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as {
    version: string;
  };
  const told: readonly [RegExp, string][] = [
    [new RegExp(`"${hostname()}"`, 'g'), '"garden-1"'],
    [/sqlite:[^"]+\/espalier\.db/g, 'sqlite:espalier-data/espalier.db'],
    [/0\.0\.0-test/g, version],
  ];
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    const text = told.reduce((before, [from, to]) => before.replace(from, to), await response.text());
    await route.fulfill({ response, body: text });
  });
  return page;
}

async function picture(page: Page, view: View, theme: (typeof themes)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(wide);
  await openView(bed, page, view);
  await take(page, `${view.name}-${theme}`);
  if (theme !== 'light' || !smallViews.includes(view.name)) return;
  await page.setViewportSize(small);
  await take(page, `${view.name}-small`);
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  const png = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  writeFileSync(join(folder, `${name}.png`), png);
  console.log(`docs/images/${name}.png ${Math.round(png.length / 1000)} kB`);
}
