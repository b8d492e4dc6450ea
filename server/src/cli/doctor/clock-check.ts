/** Compares the clock of this machine with the clocks of the database and of a server. */

import type { Examined } from './check-context.ts';
import { ok, problem, warning, type Finding, type Findings } from './finding.ts';

/** Nodes take each other's tokens within a minute; an end of a token has no tolerance. */
const maxMs = 60_000;
const muchMs = 5_000;
const firstYear = 2025;
const lastYear = 2100;
const ntp = 'Let every machine keep its time by NTP.';

export async function* checkClock({ clock, file, postgres, server }: Examined): Findings {
  const now = new Date(clock.now());
  const year = now.getUTCFullYear();
  const shown = now.toISOString();
  yield year >= firstYear && year < lastYear
    ? ok(`It is ${shown} here.`)
    : problem(`It is ${shown} here, which cannot be: tokens would be good at the wrong time.`, ntp);
  if (file === undefined) {
    const facts = await postgres().catch(() => undefined);
    // Other checks report a database that does not answer.
    if (facts) yield compared('the database', facts.nowMs, facts.readAtMs);
  }
  if (server.url === undefined) return;
  const answer = await server.alive().catch(() => undefined);
  const date = Date.parse(answer?.headers.date ?? '');
  // The server reports whole seconds.
  if (answer && !Number.isNaN(date)) yield compared(`the server at ${server.url}`, date + 500, answer.atMs);
}

function compared(whose: string, theirs: number, ours: number): Finding {
  const ahead = theirs - ours;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (seconds * 1000 < muchMs) return ok(`The clock of ${whose} agrees.`);
  const text = `The clock of ${whose} is ${seconds.toLocaleString('en')} seconds ${ahead > 0 ? 'ahead of' : 'behind'} this one.`;
  return Math.abs(ahead) > maxMs ? problem(text, ntp) : warning(text, ntp);
}
