/** Two nodes with a console behind a load balancer, an OpenID provider, and Chromium. */

import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, newContext } from '../browser/chromium.ts';
import { consoleFolder } from '../console/first-load.ts';
import type { DatabaseKind } from '../support/databases.ts';
import { administrator, Testbed } from '../support/testbed.ts';
import { RoundRobinProxy } from './round-robin-proxy.ts';
import { TestProvider } from './test-provider.ts';

/** The timeout for every wait, long enough for a busy machine. */
const timeoutMs = 20_000;

interface TabOptions {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

export class BrowserTestbed {
  readonly provider: TestProvider;
  readonly proxy: RoundRobinProxy;
  readonly nodes: readonly [Testbed, Testbed];
  readonly #browser: Browser;
  readonly #contexts = new Set<BrowserContext>();
  #faults: string[] = [];
  #expectedFaults: RegExp[] = [];

  static async start(
    kind: DatabaseKind,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<BrowserTestbed> {
    const proxy = await RoundRobinProxy.start();
    const [browser, provider] = await Promise.all([
      launchChromium(),
      TestProvider.start({ publicUrl: proxy.url }),
    ]);
    const common = { ...provider.settings, PUBLIC_URL: proxy.url, SSO_CREATE_USERS: 'on', ...settings };
    const first = await Testbed.start(kind, { settings: common, consoleFolder });
    const { database, clock } = first;
    const second = await Testbed.start(kind, { settings: common, consoleFolder, database, clock });
    proxy.nodes = [first.url, second.url];
    return new BrowserTestbed(browser, provider, proxy, [first, second]);
  }

  private constructor(
    browser: Browser,
    provider: TestProvider,
    proxy: RoundRobinProxy,
    nodes: readonly [Testbed, Testbed],
  ) {
    this.#browser = browser;
    this.provider = provider;
    this.proxy = proxy;
    this.nodes = nodes;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.proxy.stop();
    await this.nodes[1].stop();
    await this.nodes[0].stop();
    await this.provider.stop();
  }

  address(path = '/'): string {
    return `${this.proxy.url}/console${path}`;
  }

  /** Opens a tab of a new browser, which has no session at the provider. */
  async newTab({ width = 1280, theme = 'light' }: TabOptions = {}): Promise<Page> {
    const context = await newContext(this.#browser, {
      viewport: { width, height: 800 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(timeoutMs);
    context.on('weberror', (error) => this.#faults.push(`throws ${error.error().message}`));
    context.on('console', (message) => {
      const { url } = message.location();
      // The pages of the provider have faults of their own.
      if (message.type() !== 'error' || !url.startsWith(this.proxy.url)) return;
      this.#faults.push(`prints ${message.text()} (${url})`);
    });
    this.#contexts.add(context);
    return context.newPage();
  }

  /** Fills in the form of the provider. */
  async submitToProvider(page: Page, username: string): Promise<void> {
    await page.getByRole('heading', { name: 'Test provider' }).waitFor();
    await page.getByLabel('User name').fill(username);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  /** Signs in with the button of the sign-in page. */
  async signIn(page: Page, username: string): Promise<void> {
    await page.getByRole('button', { name: 'Sign in with Test provider' }).click();
    await this.submitToProvider(page, username);
  }

  async signInWithPassword(page: Page, username: string, password: string): Promise<void> {
    await page.getByLabel('User name').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  signInAsAdministrator(page: Page): Promise<void> {
    return this.signInWithPassword(page, administrator.username, administrator.password);
  }

  async waitUntilLive(page: Page): Promise<void> {
    await page.locator('.connection.live').waitFor();
  }

  /** Declares faults that this test causes on purpose. */
  expectFaults(...patterns: readonly RegExp[]): void {
    this.#expectedFaults.push(...patterns);
  }

  /** Closes all tabs. Asserts that the pages reported no unexpected error. */
  async closeTabs(): Promise<void> {
    await Promise.all([...this.#contexts].map((context) => context.close()));
    this.#contexts.clear();
    const faults = this.#faults.filter((fault) => !this.#expectedFaults.some((each) => each.test(fault)));
    this.#faults = [];
    this.#expectedFaults = [];
    assert.deepEqual(faults, []);
  }
}
