/**
 * Two nodes behind nginx are restarted in turn under load, and no request may fail:
 * `npm run rolling-restart -- --rounds N`. Tells what was done and how often something was tried again.
 */

import { isDeepStrictEqual } from 'node:util';
import { withPostgres } from '../postgres/provided-postgres.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { restartUnderLoad } from './restarts.ts';

const { rounds = '10' } = parseScriptOptions(
  'npm run rolling-restart -- [--rounds 10]\n\nRestarts two nodes behind nginx in turn under load, and checks that no request failed.',
  ['rounds'],
);

await withPostgres(async () => {
  const bed = await NodesBehindNginx.start();
  try {
    const { tally, made, found, told, watched, otherChanges } = await restartUnderLoad(bed, {
      rounds: Number(rounds),
      onProgress: (text) => console.log(text),
    });
    if (!isDeepStrictEqual(found, made)) tally.violation('what is there is not what was acknowledged');
    if (!isDeepStrictEqual(told, made)) tally.violation('what was told is not what was acknowledged');
    if (!isDeepStrictEqual(watched, made)) tally.violation('the watched tree is another');
    if (otherChanges.length > 0) tally.violation(`watch told ${JSON.stringify(otherChanges[0])}`);
    console.log(`\n${tally.summary()}\n`);
    for (const violation of tally.violations) console.log(`VIOLATION ${violation}`);
    // A node that is away is nothing new; everything else is worth a look.
    for (const line of bed.nginx.complaints.split('\n')) {
      if (line.includes('[error]') && !line.includes('Connection refused')) console.log(line);
    }
    const { length } = tally.violations;
    console.log(
      `${length === 0 ? 'No request failed' : 'There are violations'}, in ${tally.seconds.toFixed(0)} s.`,
    );
    process.exitCode = length === 0 ? 0 : 1;
  } finally {
    await bed.stop();
  }
});
