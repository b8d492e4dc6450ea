/** The console in a tab, as a person uses it, and how smooth that was. */

import type { Page } from 'playwright-core';
import type { Credentials } from '../tests/api-client.ts';
import type { Forest } from './console-forest.ts';

export interface Smoothness {
  readonly framesASecond: number;
  readonly longestFrameMs: number;
  /** How long each task over 50 ms took, by the browser's own count. */
  readonly longTasksMs: readonly number[];
}

/** In the page, before anything of it runs. */
const meter = `
  globalThis.meter = { tasks: [], frames: [] };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) meter.tasks.push([startTime, duration]);
  }).observe({ type: 'longtask', buffered: true });
  meter.begin = () => {
    const frames = (meter.frames = [performance.now()]);
    const tick = (now) => { frames.push(now); if (meter.frames === frames) requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  };
  meter.end = async () => {
    // What was busy until now is told a little later.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { frames } = meter;
    meter.frames = [];
    const [start] = frames;
    return { frames, tasks: meter.tasks.filter(([at]) => at >= start).map(([, ms]) => ms) };
  };
`;

/** What scrolls around the rows. */
const scroller = `(() => {
  for (let one = document.querySelector('[role=tree]'); one; one = one.parentElement ?? null) {
    if (one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  throw new Error('Nothing scrolls.');
})()`;

/** Until every row in sight is there with its name; looks at each frame. */
const filled = `new Promise((resolve) => (function look() {
  const box = ${scroller}.getBoundingClientRect();
  const isFilled = [0.1, 0.5, 0.9].every((part) => {
    const row = document.elementFromPoint(box.left + box.width / 2, box.top + box.height * part)?.closest('[role=treeitem]');
    return row && row.getAttribute('aria-busy') !== 'true' && /[a-z]+ \\d+/i.test(row.textContent);
  });
  if (isFilled) resolve();
  else requestAnimationFrame(look);
})())`;

export class ConsolePage {
  readonly #page: Page;
  readonly #url: string;

  static async open(page: Page, url: string): Promise<ConsolePage> {
    await page.addInitScript(meter);
    await page.goto(`${url}/console/`);
    await page.getByLabel('Password').waitFor();
    return new ConsolePage(page, url);
  }

  private constructor(page: Page, url: string) {
    this.#page = page;
    this.#url = url;
  }

  /** Until the tree is there. */
  async signIn({ username, password }: Credentials): Promise<void> {
    await this.#page.getByLabel('User name').fill(username);
    await this.#page.getByLabel('Password').fill(password);
    await this.#page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await this.#page.getByRole('treeitem').nth(1).waitFor();
  }

  /** Until its first rows are there. */
  async openLevel({ levelName, firstName }: Forest): Promise<void> {
    const row = this.#page.getByRole('treeitem', { name: levelName });
    await row.click();
    await this.#page.keyboard.press('ArrowRight');
    await this.#page.getByRole('treeitem', { name: firstName, exact: true }).waitFor();
  }

  async openDeepLink(id: string, name: string): Promise<void> {
    await this.#page.goto(`${this.#url}/console/folders/${id}`);
    await this.#page.getByRole('treeitem', { name, exact: true }).waitFor();
  }

  scrollHeight(): Promise<number> {
    return this.#page.evaluate<number>(`${scroller}.scrollHeight`);
  }

  /** Steps of a wheel, one for each frame. */
  async wheel(steps: number, pixels: number): Promise<void> {
    await this.#page.evaluate(`${scroller}.scrollTop = 0`);
    await this.#page.getByRole('tree').hover({ position: { x: 60, y: 60 } });
    for (let step = 0; step < steps; step++) {
      await this.#page.mouse.wheel(0, pixels);
      await this.#page.evaluate('new Promise(requestAnimationFrame)');
    }
    await this.#page.evaluate(filled);
  }

  /** To a part of the whole height, as with the scroll bar, until the rows there are filled. */
  async jumpTo(part: number): Promise<void> {
    await this.#page.evaluate(
      `(() => { const one = ${scroller}; one.scrollTop = (one.scrollHeight - one.clientHeight) * ${part} })()`,
    );
    await this.#page.evaluate('new Promise(requestAnimationFrame)');
    await this.#page.evaluate(filled);
  }

  async smoothnessOf(work: () => Promise<void>): Promise<Smoothness> {
    await this.#page.evaluate('meter.begin()');
    await work();
    const { frames, tasks } = await this.#page.evaluate<{ frames: number[]; tasks: number[] }>('meter.end()');
    const gaps = frames.slice(1).map((at, place) => at - frames[place]!);
    const seconds = (frames.at(-1)! - frames[0]!) / 1000;
    return { framesASecond: gaps.length / seconds, longestFrameMs: Math.max(...gaps), longTasksMs: tasks };
  }
}
