/**
 * The console of a real server in a real Chromium. Errors that a page reports, policy violations and requests to other
 * origins are faults. Each fault fails the test, unless the test expects it.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { launchChromium, newContext } from '../browser/chromium.ts';
import { sqlite } from '../support/databases.ts';
import { administrator, type TestbedOptions } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { createDemo, type DemoData, type PersonName } from './demo-data.ts';
import { consoleFolder } from './first-load.ts';

export type Who = PersonName | 'admin';

export interface TabOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  readonly isTouch?: boolean;
  /** The page uses the time of the server's clock, and `advanceSeconds` advances both. */
  readonly hasServerTime?: boolean;
}

const ownHosts = ['127.0.0.1', 'localhost'];

/** The timeout for every wait, long enough for a busy machine. */
const timeoutMs = 20_000;

export class ConsoleTestbed {
  readonly tree: TreeTestbed;
  readonly demo: DemoData;
  readonly #browser: Browser;
  readonly #contexts = new Set<BrowserContext>();
  #faults: string[] = [];
  #expectedFaults: RegExp[] = [];

  static async start(options: TestbedOptions = {}): Promise<ConsoleTestbed> {
    assert.ok(
      existsSync(join(consoleFolder, 'index.html')),
      'Build the console first. `npm test` builds it.',
    );
    const [browser, tree] = await Promise.all([
      launchChromium(),
      TreeTestbed.start(sqlite, { consoleFolder, ...options }),
    ]);
    return new ConsoleTestbed(browser, tree, await createDemo(tree));
  }

  private constructor(browser: Browser, tree: TreeTestbed, demo: DemoData) {
    this.#browser = browser;
    this.tree = tree;
    this.demo = demo;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.tree.stop();
  }

  address(path = '/'): string {
    return `${this.tree.server.url}/console${path}`;
  }

  /** The address on localhost, because passkeys do not work at IP addresses. */
  localhostAddress(path = '/'): string {
    return this.address(path).replace('127.0.0.1', 'localhost');
  }

  passwordOf(who: Who): string {
    return who === 'admin' ? administrator.password : this.demo.password;
  }

  /** Creates a browser context for one user. Its pages share storage like tabs. */
  async newBrowser({
    theme = 'light',
    width = 1280,
    height = 800,
    isTouch = false,
  }: TabOptions = {}): Promise<BrowserContext> {
    const context = await newContext(this.#browser, {
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
      ...(isTouch && { hasTouch: true, isMobile: true }),
    });
    context.setDefaultTimeout(timeoutMs);
    this.#contexts.add(context);
    this.#watch(context);
    return context;
  }

  /** Opens a tab with the sign-in form. */
  async newTab(options: TabOptions = {}, context?: BrowserContext): Promise<Page> {
    const page = await (context ?? (await this.newBrowser(options))).newPage();
    if (options.hasServerTime) await page.clock.install({ time: this.tree.server.clock.now() });
    return page;
  }

  /** Opens a tab of a new browser, signs in and opens the path. */
  async openSignedIn(who: Who, path = '/', options: TabOptions = {}): Promise<Page> {
    const page = await this.newTab(options);
    await page.goto(this.address(path));
    await this.signIn(page, who);
    return page;
  }

  async signIn(page: Page, who: Who, password = this.passwordOf(who)): Promise<void> {
    await this.submitCredentials(page, who, password);
    await this.waitUntilLive(page);
  }

  async submitCredentials(page: Page, who: Who, password: string): Promise<void> {
    await page.getByLabel('User name').fill(who);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  async waitUntilLive(page: Page): Promise<void> {
    await page.locator('.connection.live').waitFor();
  }

  /** Advances the clocks of the server and of these pages. */
  async advanceSeconds(seconds: number, ...pages: readonly Page[]): Promise<void> {
    // Between the two clock changes, the server rejects a token that is still valid by the clock of the page. The page then
    // repeats the request.
    this.expectFaults(/status of 401 .*\/graphql/);
    // The page would compute the expiry of a new token with its old clock, so the test delays refreshes until both clocks are advanced.
    const clocksAdvanced = Promise.withResolvers<void>();
    const holdRefresh = (route: Route) => clocksAdvanced.promise.then(() => route.continue());
    await Promise.all(pages.map((page) => page.route('**/login/refresh', holdRefresh)));
    this.tree.server.clock.advanceSeconds(seconds);
    await Promise.all(pages.map((page) => page.clock.fastForward(seconds * 1000)));
    clocksAdvanced.resolve();
    await Promise.all(pages.map((page) => page.unroute('**/login/refresh', holdRefresh)));
  }

  /** Declares faults that this test causes on purpose. */
  expectFaults(...patterns: readonly RegExp[]): void {
    this.#expectedFaults.push(...patterns);
  }

  /** Closes all browsers. Called after each test, or after the last test that shares its tabs. */
  async closeBrowsers(): Promise<void> {
    const contexts = [...this.#contexts];
    this.#contexts.clear();
    await Promise.all(contexts.map((context) => context.close()));
    this.assertNoFaults();
  }

  /** Asserts that no unexpected fault occurred since the last call. */
  assertNoFaults(): void {
    const faults = this.#faults.filter(
      (fault) => !this.#expectedFaults.some((pattern) => pattern.test(fault)),
    );
    this.#faults = [];
    this.#expectedFaults = [];
    assert.ok(faults.length === 0, `${faults.join('\n')}\n${this.#formatServerProblems()}`);
  }

  /** The latest warnings of the server, and requests that it could not serve. */
  #formatServerProblems(): string {
    const problems = this.tree.server.logLines.filter((line) =>
      /"level":[4-6]0\b|"status":5\d\d\b/.test(line),
    );
    return `The server logged:\n${problems.slice(-10).join('')}`;
  }

  #watch(context: BrowserContext): void {
    const addFault = (fault: string) => this.#faults.push(fault);
    const checkAddress = (address: string) => {
      const { protocol, hostname } = new URL(address.replace(/^ws/, 'http'));
      // A BreakableConnection uses its own port.
      if (protocol.startsWith('http') && !ownHosts.includes(hostname))
        addFault(`sends a request to ${address}`);
    };
    context.on('request', (request) => checkAddress(request.url()));
    context.on('weberror', (error) => addFault(`throws ${error.error().stack ?? error.error().message}`));
    context.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      addFault(`prints ${message.text()} (${message.location().url})`);
    });
    context.on('page', (page) => page.on('websocket', (socket) => checkAddress(socket.url())));
  }
}
