import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deviceName } from './device-name.ts';

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

const cases: readonly (readonly [agent: string | null, name: string])[] = [
  [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} HeadlessChrome/140.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`${windows} ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, 'Edge on Windows'],
  [`${windows} ${webKit} Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0`, 'Opera on Windows'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    'Safari on macOS',
  ],
  [`${iPhone} Version/18.1 Mobile/15E148 Safari/604.1`, 'Safari on iPhone'],
  [`${iPhone} CriOS/140.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome on iPhone'],
  [`${iPhone} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`, 'Firefox on iPhone'],
  [
    `Mozilla/5.0 (Linux; Android 15; Pixel 9) ${webKit} Chrome/140.0.0.0 Mobile Safari/537.36`,
    'Chrome on Android',
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webKit} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  ['espalier/0.1.0', 'Espalier command line 0.1.0'],
  ['curl/8.14.1', 'curl 8.14.1'],
  ['node', 'Node.js'],
  ['python-requests/2.32.3', 'python-requests 2.32.3'],
  ['Go-http-client/2.0', 'Go program'],
  ['constructor/1', 'constructor 1'],
  ['Mozilla/5.0 (compatible; Thing)', 'Mozilla/5.0 (compatible; Thing)'],
  ['“what?”', '“what?”'],
  ['   ', 'Unknown device'],
  [null, 'Unknown device'],
];

describe('device name', () => {
  for (const [agent, name] of cases) {
    test(`is ${name} for ${JSON.stringify(agent)}`, () => assert.equal(deviceName(agent), name));
  }

  test('is truncated if it is long', () => {
    assert.equal(deviceName('x'.repeat(500)), `${'x'.repeat(59)}…`);
    assert.equal(deviceName(`“${'𝒳'.repeat(500)}`), `“${'𝒳'.repeat(58)}…`);
  });
});
