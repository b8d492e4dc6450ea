/**
 * Takes the screenshots of the console for docs/images/, in both themes, from a server with demo data. Each run creates
 * the same pictures, except for ids. For example, `npm run screenshots -- users journal` takes only the views `users` and `journal`.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ConsoleTestbed, type Who } from '../../tests/console/console-testbed.ts';
import { openView, views, type View } from '../../tests/console/views.ts';
import { simulateHour } from './screenshots-activity.ts';
import { compressPng } from './small-png.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/images');
const themes = ['light', 'dark'] as const;
const wideScreen = { width: 1280, height: 800 };
const smallScreen = { width: 380, height: 760 };
/** Views that also get a screenshot of phone size. */
const smallViews = ['folders', 'overview'];

const requestedNames = process.argv.slice(2);
const chosenViews = views.filter(({ name, hasScreenshots }) =>
  requestedNames.length > 0 ? requestedNames.includes(name) : hasScreenshots,
);
const unknownNames = requestedNames.filter((name) => !views.some((view) => view.name === name));
// The overview comes first. Otherwise its charts would include the requests of the other screenshots.
const orderedViews = chosenViews.toSorted(
  (one, other) => Number(other.name === 'overview') - Number(one.name === 'overview'),
);
if (unknownNames.length > 0) throw new Error(`There is no view ${unknownNames.join(', ')}.`);

mkdirSync(folder, { recursive: true });
// The default port, because some screenshots contain the address.
const consoleTestbed = await ConsoleTestbed.start({ settings: { PORT: '8080' } });
try {
  await simulateHour(consoleTestbed);
  const tabs = new Map<Who | null, Page>();
  for (const view of orderedViews) {
    const username = view.who === undefined ? 'admin' : view.who;
    const page = tabs.get(username) ?? (await openTab());
    tabs.set(username, page);
    for (const theme of themes) await takePictures(page, view, theme);
  }
} finally {
  await consoleTestbed.closeBrowsers();
  await consoleTestbed.stop();
}

async function openTab(): Promise<Page> {
  const page = await consoleTestbed.newTab(wideScreen);
  await page.clock.setFixedTime(consoleTestbed.tree.server.clock.now());
  // Replaces texts that depend on this machine.
  const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as {
    version: string;
  };
  const replacements: readonly [RegExp, string][] = [
    [new RegExp(`"${hostname()}"`, 'g'), '"garden-1"'],
    [/sqlite:[^"]+\/espalier\.db/g, 'sqlite:espalier-data/espalier.db'],
    [/0\.0\.0-test/g, version],
  ];
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    const text = replacements.reduce(
      (replacedText, [from, to]) => replacedText.replace(from, to),
      await response.text(),
    );
    await route.fulfill({ response, body: text });
  });
  return page;
}

async function takePictures(page: Page, view: View, theme: (typeof themes)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(wideScreen);
  await openView(consoleTestbed, page, view);
  await takePicture(page, `${view.name}-${theme}`);
  if (theme !== 'light' || !smallViews.includes(view.name)) return;
  await page.setViewportSize(smallScreen);
  await takePicture(page, `${view.name}-small`);
}

async function takePicture(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  const png = compressPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  writeFileSync(join(folder, `${name}.png`), png);
  console.log(`docs/images/${name}.png ${Math.round(png.length / 1000)} kB`);
}
