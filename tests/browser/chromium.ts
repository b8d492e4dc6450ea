/** A real Chromium for tests: the one of the machine, without a window, with a profile that goes when it is closed. */

import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { requireProgram } from '../runner/debian-packages.ts';
import { noteSecretsIn } from '../secrets/secret-record.ts';

/**
 * The first two lines are what a list of suggestions below the address takes: a second for each new window, although nobody
 * sees it. The others are those that Playwright turns off, whose list this one replaces.
 */
const disabledFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'AiModeOmniboxEntryPoint'],
  ...['InitialWebUI', 'WebUIReloadButton'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

/** It asks nobody for anything by itself. The sandbox needs more than a container gives to root; the pages are ours. */
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

/** Close it: its profile is removed then. Pages of one context share storage, locks and channels, as tabs do. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: requireProgram('chromium'), args: flags });
}

/** A fresh one, whose passwords and tokens no log may hold. */
export async function newContext(
  browser: Browser,
  options?: Parameters<Browser['newContext']>[0],
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.on('request', (request) => {
    noteSecretsIn(`${request.postData() ?? ''} ${request.headers()['authorization'] ?? ''}`);
  });
  return context;
}
