/** Compares the clock of this machine with the clocks of the database and of a server. */

import type { CheckContext } from './check-context.ts';
import { ok, problem, warning, type Finding, type Findings } from './finding.ts';

/** Nodes accept each other's tokens if their clocks differ by less than a minute. Expiry has no tolerance. */
const maxMs = 60_000;
const muchMs = 5_000;
const firstYear = 2025;
const lastYear = 2100;
const ntp = 'Synchronize the clock of every machine by NTP.';

export async function* checkClock({ clock, file, postgres, server }: CheckContext): Findings {
  const now = new Date(clock.now());
  const year = now.getUTCFullYear();
  const currentTime = now.toISOString();
  yield year >= firstYear && year < lastYear
    ? ok(`The clock of this machine shows ${currentTime}.`)
    : problem(
        `The clock of this machine shows ${currentTime}, which is wrong: tokens would be valid at the wrong time.`,
        ntp,
      );
  if (file === undefined) {
    const facts = await postgres().catch(() => undefined);
    // Other checks report a database that does not answer.
    if (facts) yield compared('the database', facts.nowMs, facts.readAtMs);
  }
  if (server.url === undefined) return;
  const response = await server.alive().catch(() => undefined);
  const date = Date.parse(response?.headers.date ?? '');
  // The server reports whole seconds.
  if (response && !Number.isNaN(date))
    yield compared(`the server at ${server.url}`, date + 500, response.atMs);
}

function compared(whose: string, theirs: number, ours: number): Finding {
  const ahead = theirs - ours;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (seconds * 1000 < muchMs) return ok(`The clock of ${whose} shows the same time.`);
  const text = `The clock of ${whose} is ${seconds.toLocaleString('en')} seconds ${ahead > 0 ? 'ahead of' : 'behind'} this one.`;
  return Math.abs(ahead) > maxMs ? problem(text, ntp) : warning(text, ntp);
}
