/**
 * The console of a real server in a real Chromium. Whatever a page reports as an error, breaks of its policy, and
 * requests to any other origin are faults, of which a test that has not told so beforehand may have none.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { launchChromium, newContext } from '../browser/chromium.ts';
import { sqlite } from '../support/databases.ts';
import { administrator, type TestbedOptions } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { plantDemo, type DemoEstate, type PersonName } from './demo-estate.ts';
import { consoleFolder } from './first-load.ts';

export type Who = PersonName | 'admin';

export interface TabOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The page has the time of the server's clock, and `pass` moves both. */
  readonly hasServerTime?: boolean;
}

/** Whoever waits for longer waits in vain; a loaded machine has some time. */
const patienceMs = 20_000;

export class ConsoleBed {
  readonly tree: TreeTestbed;
  readonly demo: DemoEstate;
  readonly #browser: Browser;
  readonly #contexts = new Set<BrowserContext>();
  #faults: string[] = [];
  #expected: RegExp[] = [];

  static async start(options: TestbedOptions = {}): Promise<ConsoleBed> {
    assert.ok(existsSync(join(consoleFolder, 'index.html')), 'Build the console: npm test does.');
    const [browser, tree] = await Promise.all([
      launchChromium(),
      TreeTestbed.start(sqlite, { consoleFolder, ...options }),
    ]);
    return new ConsoleBed(browser, tree, await plantDemo(tree));
  }

  private constructor(browser: Browser, tree: TreeTestbed, demo: DemoEstate) {
    this.#browser = browser;
    this.tree = tree;
    this.demo = demo;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.tree.stop();
  }

  address(path = '/'): string {
    return `${this.tree.testbed.url}/console${path}`;
  }

  passwordOf(who: Who): string {
    return who === 'admin' ? administrator.password : this.demo.password;
  }

  /** A browser of somebody's own; its pages are tabs that share what tabs share. */
  async newBrowser({
    theme = 'light',
    width = 1280,
    height = 800,
  }: TabOptions = {}): Promise<BrowserContext> {
    const context = await newContext(this.#browser, {
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(patienceMs);
    this.#contexts.add(context);
    this.#watch(context);
    return context;
  }

  /** A tab on the form. */
  async newTab(options: TabOptions = {}, context?: BrowserContext): Promise<Page> {
    const page = await (context ?? (await this.newBrowser(options))).newPage();
    if (options.hasServerTime) await page.clock.install({ time: this.tree.testbed.clock.now() });
    return page;
  }

  /** A tab of a new browser, in which somebody has signed in and looks at this. */
  async signedIn(who: Who, path = '/', options: TabOptions = {}): Promise<Page> {
    const page = await this.newTab(options);
    await page.goto(this.address(path));
    await this.signIn(page, who);
    return page;
  }

  async signIn(page: Page, who: Who, password = this.passwordOf(who)): Promise<void> {
    await this.fillIn(page, who, password);
    await this.isLive(page);
  }

  async fillIn(page: Page, who: Who, password: string): Promise<void> {
    await page.getByLabel('User name').fill(who);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  async isLive(page: Page): Promise<void> {
    await page.locator('.connection.live').waitFor();
  }

  /** For the server and for these pages, which have its time. */
  async pass(seconds: number, ...pages: readonly Page[]): Promise<void> {
    // What comes between the two clocks is refused, with a token that the page takes for a good one, and is sent again.
    this.expectFaults(/status of 401 .*\/graphql/);
    // The life of a new token would be counted by the old clock: it is exchanged when both have moved.
    const moved = Promise.withResolvers<void>();
    const hold = (route: Route) => moved.promise.then(() => route.continue());
    await Promise.all(pages.map((page) => page.route('**/login/refresh', hold)));
    this.tree.testbed.clock.advanceSeconds(seconds);
    await Promise.all(pages.map((page) => page.clock.fastForward(seconds * 1000)));
    moved.resolve();
    await Promise.all(pages.map((page) => page.unroute('**/login/refresh', hold)));
  }

  /** This test has faults like that, and they are meant. */
  expectFaults(...patterns: readonly RegExp[]): void {
    this.#expected.push(...patterns);
  }

  /** After each test, or at the end of those that share their tabs. */
  async closeBrowsers(): Promise<void> {
    const contexts = [...this.#contexts];
    this.#contexts.clear();
    await Promise.all(contexts.map((context) => context.close()));
    this.assertNoFaults();
  }

  /** Of those since it was last asked. */
  assertNoFaults(): void {
    const faults = this.#faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    this.#faults = [];
    this.#expected = [];
    assert.deepEqual(faults, []);
  }

  #watch(context: BrowserContext): void {
    const note = (fault: string) => this.#faults.push(fault);
    const judge = (address: string) => {
      const { protocol, hostname } = new URL(address.replace(/^ws/, 'http'));
      // A cable has a port of its own.
      if (protocol.startsWith('http') && hostname !== '127.0.0.1') note(`asks ${address}`);
    };
    context.on('request', (request) => judge(request.url()));
    context.on('weberror', (error) => note(`throws ${error.error().stack ?? error.error().message}`));
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      note(`says ${message.text()} (${message.location().url})`);
    });
    context.on('page', (page) => page.on('websocket', (socket) => judge(socket.url())));
  }
}
