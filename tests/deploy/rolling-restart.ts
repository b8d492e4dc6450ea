/**
 * Restarts two nodes behind nginx in turn under load and checks that no request fails: `npm run lab -- rolling-restart
 * --rounds N`. Prints the counts and the retries.
 */

import { isDeepStrictEqual } from 'node:util';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { restartUnderLoad } from './restart-under-load.ts';

const { rounds = '10' } = parseScriptOptions(
  'npm run lab -- rolling-restart [--rounds 10]\n\nRestarts two nodes behind nginx in turn under load, and checks that no request failed.',
  ['rounds'],
);

await withPostgres(async () => {
  const testbed = await NodesBehindNginx.start();
  try {
    const { tally, names, otherChanges } = await restartUnderLoad(testbed, {
      rounds: Number(rounds),
      onProgress: (text) => console.log(text),
    });
    if (!isDeepStrictEqual(names.stored, names.acknowledged))
      tally.reportViolation('the stored folders differ from the acknowledged ones');
    if (!isDeepStrictEqual(names.received, names.acknowledged))
      tally.reportViolation('the received changes differ from the acknowledged ones');
    if (!isDeepStrictEqual(names.watched, names.acknowledged))
      tally.reportViolation('the watched tree differs');
    if (otherChanges.length > 0) tally.reportViolation(`watch received ${JSON.stringify(otherChanges[0])}`);
    console.log(`\n${tally.summary()}\n`);
    for (const violation of tally.violations) console.log(`VIOLATION ${violation}`);
    // Refused connections to a stopped node are expected. All other errors are printed.
    for (const line of testbed.nginx.errorLog.split('\n')) {
      if (line.includes('[error]') && !line.includes('Connection refused')) console.log(line);
    }
    const { length } = tally.violations;
    console.log(
      `${length === 0 ? 'No request failed' : 'There are violations'}, in ${tally.seconds.toFixed(0)} s.`,
    );
    process.exitCode = length === 0 ? 0 : 1;
  } finally {
    await testbed.stop();
  }
});
