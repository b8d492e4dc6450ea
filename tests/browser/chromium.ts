/** Launches the installed Chromium for tests: headless, with a temporary profile. */

import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { requireProgram } from '../runner/debian-packages.ts';
import { recordSecretsIn } from '../secrets/secret-record.ts';

/**
 * The first two lines disable the omnibox popup, which delays each new window by a second. The other features are the ones that
 * Playwright disables by default, because this list replaces Playwright's list.
 */
const disabledFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'AiModeOmniboxEntryPoint'],
  ...['InitialWebUI', 'WebUIReloadButton'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

/**
 * These options stop Chromium's own requests and disable the sandbox. Root does not have the permissions for the sandbox in a
 * container, and the tests open only our own pages.
 */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${disabledFeatures.join(',')}`,
];

/**
 * Launches Chromium. Closing it removes its profile. Pages of one context share storage, locks and channels, like tabs.
 */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: requireProgram('chromium-headless-shell'), args: flags });
}

/** Creates a context that records the passwords and tokens in its requests, so that logs can be searched for them. */
export async function newContext(
  browser: Browser,
  options?: Parameters<Browser['newContext']>[0],
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.on('request', (request) => {
    recordSecretsIn(`${request.postData() ?? ''} ${request.headers()['authorization'] ?? ''}`);
  });
  return context;
}
