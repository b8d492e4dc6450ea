/** Scenario for live delivery: one change to many sockets of users with different rights. */

import { changesSubscription } from '../client/src/tree/follow-changes.ts';
import { rootNameQuery } from '../tests/contract/graph-queries.ts';
import { Child } from './child.ts';
import { startBaselineSubject, measureCpu, tryRequest, type Subject } from './measure.ts';
import { loadCore, pinToCore, readResidentBytes } from './processes.ts';
import { post } from './request.ts';
import type { Bench, Group, PreparedSite } from './scenario.ts';
import type { DatabaseName } from './site.ts';
import type { DeliverInput, OpenInput } from './sockets.ts';
import type { RunQuery, Tree } from './tree.ts';

const audienceSize = { sockets: 1_000, users: 50 };
/** For a short run, which only shows that the scenario works. */
const smallAudienceSize = { sockets: 25, users: 5 };
const minRequests = 1_000;
/** The kinds of users. Each user gets the next kind in turn. */
const rights = ['administrator', 'READ', 'WRITE', 'MANAGE', 'READ on the parent'] as const;

export const live: Group = {
  name: 'live',
  scenarios: [
    {
      name: 'delivery',
      about: 'Send one change to 1,000 sockets of 50 users with 5 different sets of grants',
    },
  ],
  async run(_, { database, sites }, bench) {
    const audiences: Audience[] = [];
    try {
      for (const prepared of sites) audiences.push(await openAudience(prepared, database, bench));
      await measure(audiences, database, bench);
    } finally {
      for (const { child } of audiences) await child.stop();
    }
  },
};

interface Audience {
  readonly prepared: PreparedSite;
  readonly child: Child;
  readonly sockets: number;
}

async function openAudience(prepared: PreparedSite, database: DatabaseName, bench: Bench): Promise<Audience> {
  const { site, tree, label } = prepared;
  const { sockets, users } = bench.maxRequests < minRequests ? smallAudienceSize : audienceSize;
  const runQuery = await site.createQueryRunner();
  const tokens: string[] = [];
  for (let index = 0; index < users; index++) {
    const user = { username: `subscriber ${index}`, password: `walnut cabin ${index}` };
    await createUser(runQuery, user, rights[index % rights.length]!, tree);
    tokens.push(await site.logIn(user));
  }
  const { cursor } = await runQuery<{ cursor: string }>('{cursor}');
  const variables = { under: tree.campusId, after: cursor };
  const child = new Child({ file: 'sockets.ts', signal: bench.signal });
  pinToCore(child.pid, loadCore);
  const before = readResidentBytes(site.pid);
  const subscribers = Array.from({ length: sockets }, (_, index) => ({
    authToken: tokens[index % tokens.length]!,
    variables,
  }));
  const input: OpenInput = { url: site.url, document: changesSubscription, subscribers };
  await child.call('open', input);
  const kilobytes = (readResidentBytes(site.pid) - before) / 1000 / sockets;
  bench.note(`${database}, ${label}: ${sockets} sockets are open, ${kilobytes.toFixed(0)} kB of memory each`);
  return { prepared, child, sockets };
}

async function createUser(
  runQuery: RunQuery,
  user: { username: string; password: string },
  right: (typeof rights)[number],
  { campusId, placesId }: Tree,
): Promise<void> {
  const isAdministrator = right === 'administrator';
  const { createUser: payload } = await runQuery<{ createUser: { user: { id: string } } }>(
    'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
    { input: { ...user, isAdministrator } },
  );
  if (isAdministrator) return;
  const isOnParent = right === 'READ on the parent';
  const input = {
    folderId: isOnParent ? placesId : campusId,
    userId: payload.user.id,
    level: isOnParent ? 'READ' : right,
  };
  await runQuery('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', { input });
}

async function measure(audiences: readonly Audience[], database: DatabaseName, bench: Bench): Promise<void> {
  const { site } = audiences[0]!.prepared;
  const authorization = `Bearer ${await site.logIn()}`;
  const request = post('/graphql', { query: rootNameQuery }, { authorization });
  const baseline = await startBaselineSubject(await tryRequest(site, request), bench);
  const subjects = [];
  for (const audience of audiences) subjects.push(await toSubject(audience));
  const results = await measureCpu(subjects, baseline, bench);
  bench.report({ scenario: 'delivery', database, unit: 'µs CPU per delivery', ...results });
}

let changeCount = 0;

/** Counts deliveries as requests. A change has one delivery for each socket. */
async function toSubject({ prepared, child, sockets }: Audience): Promise<Subject> {
  const { label, site, tree } = prepared;
  const authToken = await site.logIn();
  return {
    label,
    cpuMicroseconds: () => site.cpuMicroseconds(),
    async run(deliveries) {
      const names = Array.from({ length: Math.ceil(deliveries / sockets) }, () => `News ${++changeCount}`);
      const input: DeliverInput = { url: site.url, authToken, parentId: tree.inboxId, names };
      const { elapsedMs } = await child.call<{ elapsedMs: number }>('deliver', input);
      return { elapsedMs, done: names.length * sockets };
    },
    check: (done) => child.call('check', done / sockets),
  };
}
