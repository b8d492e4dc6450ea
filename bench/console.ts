/**
 * The console in a real Chromium, on a tree of a million folders with a level of 100,000: what it loads, how long people wait
 * for what they click, and whether it stays smooth while they scroll. Fails if the first load is 250 kB or more, or if
 * anything keeps the page busy for 200 ms while it is scrolled.
 */

import { availableParallelism, loadavg } from 'node:os';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../tests/browser/chromium.ts';
import { firstLoadBudgetBytes, totalOf, watchLoads } from '../tests/console/first-load.ts';
import { plantForest, type Forest } from './console-forest.ts';
import { ConsolePage, type Smoothness } from './console-page.ts';
import type { Measure, Scenario } from './scenario.ts';
import { ServerProcess } from './server-process.ts';

const longestTaskMs = 200;
/** Of about the height of a screen, as a hand does it; and so that they go through the whole level. */
const slowSteps = { count: 150, pixels: 500 };
const fastSteps = 150;
const jumps = 40;
/** The browser compiles what it has seen before. */
const warmUpRounds = 1;

interface Round {
  readonly gzippedBytes: number;
  readonly signInMs: number;
  readonly levelMs: number;
  readonly deepLinkMs: number;
  readonly jumpMs: readonly number[];
  readonly scrolling: Readonly<Record<'by hand' | 'through all' | 'by jumps', Smoothness>>;
}

export const consoleScenario: Scenario = {
  name: 'console',
  async run(options) {
    const [load] = loadavg();
    if (load! > availableParallelism()) {
      options.note(
        `this machine has other work (load ${load!.toFixed(1)}): tasks of the page take longer than they need`,
      );
    }
    const server = await ServerProcess.start(options.signal);
    let browser: Browser | undefined;
    try {
      const forest = await plantForest(server, options);
      browser = await launchChromium();
      const rounds: Round[] = [];
      for (let round = 0; round < warmUpRounds + options.rounds; round++) {
        options.signal.throwIfAborted();
        rounds.push(await runRound(browser, forest));
      }
      return measuresOf(rounds.slice(warmUpRounds), forest);
    } finally {
      await browser?.close();
      await server.stop();
    }
  },
};

async function runRound(browser: Browser, forest: Forest): Promise<Round> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const tab = await context.newPage();
    const loaded = watchLoads(tab);
    const page = await ConsolePage.open(tab, forest.url);
    const signInMs = await timed(() => page.signIn(forest.person));
    const gzippedBytes = totalOf(loaded());
    const levelMs = await timed(() => page.openLevel(forest));
    const byHand = await page.smoothnessOf(() => page.wheel(slowSteps.count, slowSteps.pixels));
    const height = await page.scrollHeight();
    const throughAll = await page.smoothnessOf(() => page.wheel(fastSteps, Math.ceil(height / fastSteps)));
    const jumpMs: number[] = [];
    const byJumps = await page.smoothnessOf(async () => {
      for (let jump = 0; jump < jumps; jump++) {
        // Spread over the level like the seeds of a flower: the same places in each run, never in order.
        const part = (jump * 0.618034) % 1;
        jumpMs.push(await timed(() => page.jumpTo(part)));
      }
    });
    const deepLinkMs = await timed(() => page.openDeepLink(forest.deepId, forest.deepName));
    return {
      gzippedBytes,
      signInMs,
      levelMs,
      deepLinkMs,
      jumpMs,
      scrolling: { 'by hand': byHand, 'through all': throughAll, 'by jumps': byJumps },
    };
  } finally {
    await context.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function measuresOf(rounds: readonly Round[], { folderCount, levelCount, deepPlace }: Forest): Measure[] {
  const each = (choose: (round: Round) => number) => rounds.map(choose);
  const place = deepPlace.toLocaleString('en');
  const level = levelCount.toLocaleString('en');
  return [
    { name: 'folders', unit: '', values: [folderCount] },
    {
      name: 'first load, gzipped',
      unit: 'kB',
      values: each(({ gzippedBytes }) => gzippedBytes / 1000),
      below: firstLoadBudgetBytes / 1000,
    },
    { name: 'from sign-in to the tree', unit: 'ms', values: each(({ signInMs }) => signInMs) },
    { name: `from click to a level of ${level}`, unit: 'ms', values: each(({ levelMs }) => levelMs) },
    { name: `deep link to place ${place}`, unit: 'ms', values: each(({ deepLinkMs }) => deepLinkMs) },
    { name: 'from jump to rows', unit: 'ms', values: rounds.flatMap(({ jumpMs }) => jumpMs) },
    ...(['by hand', 'through all', 'by jumps'] as const).flatMap((way): Measure[] => {
      const smooth = rounds.map(({ scrolling }) => scrolling[way]);
      const over = (ms: number) =>
        smooth.map(({ longTasksMs }) => longTasksMs.filter((task) => task > ms).length);
      return [
        {
          name: `scrolling ${way}: frames a second`,
          unit: '',
          values: smooth.map((one) => one.framesASecond),
        },
        {
          name: `scrolling ${way}: longest frame`,
          unit: 'ms',
          values: smooth.map((one) => one.longestFrameMs),
        },
        { name: `scrolling ${way}: tasks over 50 ms`, unit: '', values: over(50) },
        { name: `scrolling ${way}: tasks over 100 ms`, unit: '', values: over(100) },
        {
          name: `scrolling ${way}: longest task`,
          unit: 'ms',
          values: smooth.map(({ longTasksMs }) => Math.max(0, ...longTasksMs)),
          below: longestTaskMs,
        },
      ];
    }),
  ];
}
