/**
 * Compares the CPU time of the server for refused logins: unknown users, wrong passwords and disabled users in turn, one
 * at a time, over HTTP. Exits with 1 if the medians differ by more than 5%.
 */

import { randomInt } from 'node:crypto';
import { parseScriptOptions } from '../support/script-options.ts';
import { summarize } from '../../bench/scenario.ts';
import { ServerProcess } from '../measured-server/server-process.ts';

const maxPercent = 5;
const warmUp = 20;

const values = parseScriptOptions(
  'npm run lab -- login-times [--tries 200]\n\nCompares the CPU time of logins with an unknown user, a wrong password or a disabled user.',
  ['tries'],
);
const triesPerKind = Number(values.tries ?? 200);

const password = 'walnut cabin orchard';
const kinds = {
  'unknown user': { username: 'nobody', password, status: 401 },
  'wrong password': { username: 'active', password: 'walnut cabin meadows', status: 401 },
  'disabled user': { username: 'barred', password, status: 401 },
  'right password': { username: 'active', password, status: 200 },
};
type Kind = keyof typeof kinds;
const names = Object.keys(kinds) as Kind[];

const abortController = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => abortController.abort(new Error(`Stopped by ${name}.`)));
}

// Each attempt has its own client address, so that the login throttle does not refuse any attempt.
const server = await ServerProcess.start(abortController.signal, { TRUST_PROXY: 'true' });
try {
  await createUsers();
  process.exitCode = report(await measure());
} finally {
  await server.stop();
}

async function createUsers(): Promise<void> {
  const create = 'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}';
  const disable = 'mutation($id: ID!){updateUser(input: {id: $id, isDisabled: true}){user{id}}}';
  for (const username of ['active', 'barred']) {
    const answer = await server.query<{ createUser: { user: { id: string } } }>(create, {
      input: { username, password },
    });
    if (username === 'barred') await server.query(disable, { id: answer.createUser.user.id });
  }
}

/** Alternates between the kinds, so that other load affects all equally. Returns milliseconds. */
async function measure(): Promise<Record<Kind, number[]>> {
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Kind, number[]>;
  for (let round = -warmUp; round < triesPerKind; round++) {
    if (round % 50 === 0) console.error(`${round} of ${triesPerKind} tries of each`);
    const order = names.map((_, index) => names[(index + round + warmUp) % names.length]!);
    for (const name of order) {
      const before = await server.usage();
      await logIn(name);
      const after = await server.usage();
      if (round >= 0) times[name].push((after.cpuMicroseconds - before.cpuMicroseconds) / 1000);
    }
  }
  return times;
}

async function logIn(name: Kind): Promise<void> {
  const { status, ...credentials } = kinds[name];
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  const response = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(credentials),
    signal: abortController.signal,
  });
  await response.arrayBuffer();
  if (response.status !== status) throw new Error(`${name}: ${response.status} instead of ${status}.`);
}

/** Returns the exit code. A right password also starts a session and is listed for comparison. */
function report(times: Record<Kind, number[]>): number {
  for (const name of names) {
    const { median, min, max } = summarize(times[name]);
    const texts = [median, min, max].map((each) => each.toFixed(2).padStart(8));
    console.log(
      `${name.padEnd(16)} median${texts[0]} ms   min${texts[1]}   max${texts[2]}   ${triesPerKind} tries`,
    );
  }
  const medians = names
    .filter((name) => kinds[name].status === 401)
    .map((name) => summarize(times[name]).median);
  const percent = (Math.max(...medians) / Math.min(...medians) - 1) * 100;
  console.log(
    `The medians of the refused logins differ by ${percent.toFixed(1)}%. The limit is ${maxPercent}%.`,
  );
  return percent > maxPercent ? 1 : 0;
}
