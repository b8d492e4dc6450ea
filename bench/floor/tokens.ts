/** Refreshes against a bare update and a signature, and logins against bare argon2. */

import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { hash } from '@node-rs/argon2';
import { spareCores } from '../../server/src/places.ts';
import type { Credentials } from '../../tests/api-client.ts';
import { administrator } from '../../tests/many-nodes/node-process.ts';
import { treeCpuMicroseconds } from '../sizing-processes.ts';
import type { Guesses } from './bare.ts';
import { BareProcess } from './bare-process.ts';
import { copySqlite, readRows, writeRow } from './bare-sqlite.ts';
import type { TokenPair } from './volley.ts';
import { askedBy, type Target } from './load-process.ts';
import { connections, meet } from './meeting.ts';
import { OurServer, temporaryFolder, tokenRequest } from './our-server.ts';
import type { Contestant } from './contestant.ts';
import { compete, type Course, type Field, type Race, type RaceOutcome } from './race.ts';
import { recordAnswer, type RecordedAnswer } from './recorded-answer.ts';

const refresh: Race = {
  name: 'refresh',
  about: '/login/refresh, durable',
  floor: 'raw node:http, one bare synced SQLite update, one Ed25519 signature',
  atLeast: 0.6,
  aim: 0.8,
};
const login: Race = {
  name: 'login',
  about: '/login',
  floor: 'bare argon2id verify, without HTTP',
  atLeast: 0.95,
  aim: 0.98,
};

/** What no server can be below that keeps sessions and signs tokens. */
const boundLogin: Race = {
  name: 'bound-login',
  about: '/login, by raw node:http that reads the user, verifies, syncs one session and signs one token',
  floor: login.floor,
};

const refreshesInRound = 500;
const loginsInRound = 50;
const loginConnections = 4;
const warmUpLogins = 20;
/** A hash of the least cost: with it, all around the hash is soon done as often as it takes V8 to compile it. */
const leastCost = { memoryCost: 8, timeCost: 1, parallelism: 1 };
const leastLogins = 3_000;
/** Times in tokens have as many digits as they need. */
const slackBytes = 16;

export const tokenField: Field = {
  name: 'tokens',
  entries: [refresh, login, boundLogin],
  async *run(chosen, course) {
    const server = await OurServer.start(course);
    const folder = temporaryFolder();
    try {
      if (chosen.includes(refresh.name)) yield await raceRefreshes(server, join(folder, 'copy.db'), course);
      if ([login, boundLogin].some(({ name }) => chosen.includes(name))) {
        yield* raceLogins(chosen, { server, file: join(folder, 'logins.db') }, course);
      }
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Each connection has a session of its own. */
async function raceRefreshes(server: OurServer, copy: string, course: Course): Promise<RaceOutcome> {
  const pairs: TokenPair[] = [];
  for (let place = 0; place < connections; place++) pairs.push(await server.logIn());
  copySqlite(server.file, copy);
  const first = refreshRequest(await server.logIn());
  const asked = refreshRequest({ authToken: '{authToken}', refreshToken: '{refreshToken}' });
  return meet(
    refresh,
    {
      server,
      asked,
      first,
      requests: refreshesInRound,
      toFloor: (answer) => ({ kind: 'refresh', file: copy, answer }),
      varied: { chain: { name: refresh.name, pairs }, slackBytes },
    },
    course,
  );
}

function refreshRequest({ authToken, refreshToken }: TokenPair) {
  return tokenRequest('/login/refresh', { refreshToken }, { authorization: `Bearer ${authToken}` });
}

/** Somebody whose hash costs next to nothing. */
async function inviteGuest(server: OurServer): Promise<Credentials> {
  const guest = { username: 'guest', password: 'walnut cabin orchard' };
  await server.ask('mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}', {
    input: guest,
  });
  writeRow(server.file, 'update users set password_hash = ? where username = ?', [
    await hash(guest.password, leastCost),
    guest.username,
  ]);
  return guest;
}

interface Logins {
  readonly guest: Credentials;
  /** Of the administrator's password. */
  readonly hash: string;
  readonly answer: RecordedAnswer;
}

async function* raceLogins(
  chosen: readonly string[],
  { server, file }: { server: OurServer; file: string },
  course: Course,
): AsyncGenerator<RaceOutcome> {
  const [user] = readRows<{ hash: string }>(server.file, 'select password_hash as hash from users');
  const answer = await recordAnswer(server.url, tokenRequest('/login', administrator));
  const logins: Logins = { hash: user!.hash, answer, guest: await inviteGuest(server) };
  if (chosen.includes(login.name)) yield await raceLogin(login, server, logins, course);
  if (!chosen.includes(boundLogin.name)) return;
  copySqlite(server.file, file);
  const bound = await BareProcess.start({ kind: 'login', answer, file }, course);
  try {
    yield await raceLogin(boundLogin, bound, logins, course);
  } finally {
    await bound.stop();
  }
}

/** As many hashes at once as the server makes. */
async function raceLogin(
  race: Race,
  target: Target,
  { guest, hash, answer: { status, bytes } }: Logins,
  course: Course,
): Promise<RaceOutcome> {
  const asked = (who: Credentials) =>
    askedBy(course.load, target, {
      asked: tokenRequest('/login', who),
      connections: loginConnections,
      expected: { status, bytes, slackBytes },
    });
  await asked(guest).fire(Math.min(leastLogins, course.mostRequests));
  const bare = BareProcess.launch(course);
  const floor: Contestant = {
    async fire(requests) {
      const before = treeCpuMicroseconds(bare.pid);
      const start = performance.now();
      const atOnce = spareCores();
      const guesses: Guesses = { hash, password: administrator.password, count: requests, atOnce };
      await bare.ask('verifyPasswords', guesses);
      const elapsedMs = performance.now() - start;
      return { requests, elapsedMs, cpuMicroseconds: treeCpuMicroseconds(bare.pid) - before };
    },
  };
  try {
    const ours = asked(administrator);
    return await compete(race, { ours, floor, requests: loginsInRound, warmUp: warmUpLogins }, course);
  } finally {
    await bare.stop();
  }
}
