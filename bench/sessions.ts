/** Scenarios for login and refresh, as `@espalier/client` sends them. */

import { Passwords, hashQueueEntry } from '../server/src/accounts/passwords.ts';
import type { RefreshableTokens } from './load.ts';
import {
  startBaselineSubject,
  connections,
  measureCpu,
  createSiteSubject,
  tryRequest,
  type SentRequest,
  type Subject,
} from './measure.ts';
import { recordRequest, type BenchRequest } from './request.ts';
import type { Bench, Group, PreparedSite } from './scenario.ts';
import { administrator, type DatabaseName } from './site.ts';

/** Times in tokens differ in their number of digits. */
const slackBytes = 16;
const loginConnections = 4;

export const sessions: Group = {
  name: 'sessions',
  scenarios: [
    { name: 'login', about: 'Log in (the baseline verifies the same password hash)' },
    { name: 'refresh', about: 'Refresh the tokens' },
  ],
  async run(chosenNames, { database, sites }, bench) {
    if (chosenNames.includes('login')) await measureLogin(sites, database, bench);
    if (chosenNames.includes('refresh')) await measureRefresh(sites, database, bench);
  },
};

async function measureLogin(sites: readonly PreparedSite[], database: DatabaseName, bench: Bench) {
  const request = (url: string) =>
    recordRequest({ url, credentials: administrator, path: '/login' }, () => Promise.resolve());
  const sentRequests: SentRequest[] = [];
  for (const { site } of sites) sentRequests.push(await tryRequest(site, await request(site.url)));
  const { password } = administrator;
  const passwordCheck = {
    password,
    hash: await new Passwords().hash(password, hashQueueEntry({ userId: 'baseline' })),
  };
  const variation = { slackBytes, connections: loginConnections };
  const subjects = sites.map(({ label, site }, index) =>
    createSiteSubject(label, site, sentRequests[index]!, bench, variation),
  );
  const baseline = await startBaselineSubject(sentRequests[0]!, bench, passwordCheck);
  const results = await measureCpu(subjects, baseline, bench);
  bench.report({ scenario: 'login', database, unit: 'µs CPU', ...results });
}

async function measureRefresh(sites: readonly PreparedSite[], database: DatabaseName, bench: Bench) {
  const preparedSites: { readonly sent: SentRequest; readonly subject: Subject }[] = [];
  for (const { label, site } of sites) {
    const request = await recordRequest(
      { url: site.url, credentials: administrator, path: '/login/refresh' },
      async (client) => client.authToken({ refused: await client.authToken() }),
    );
    const { response } = await tryRequest(site, request);
    const pairs: RefreshableTokens[] = [];
    for (let index = 0; index < connections; index++) pairs.push(await site.logInTokens());
    const variation = { slackBytes, tokens: { name: `${database}, ${label}`, pairs } };
    const sent = { request, response };
    const sentTemplate = { request: withPlaceholders(request), response };
    preparedSites.push({ sent, subject: createSiteSubject(label, site, sentTemplate, bench, variation) });
  }
  const subjects = preparedSites.map(({ subject }) => subject);
  const results = await measureCpu(
    subjects,
    await startBaselineSubject(preparedSites[0]!.sent, bench),
    bench,
  );
  bench.report({ scenario: 'refresh', database, unit: 'µs CPU', ...results });
}

/** The load process replaces the placeholders with the tokens of each connection. */
function withPlaceholders(request: BenchRequest): BenchRequest {
  const { refreshToken } = JSON.parse(request.body) as { refreshToken: string };
  return {
    ...request,
    headers: { ...request.headers, authorization: 'Bearer {authToken}' },
    body: request.body.replace(refreshToken, '{refreshToken}'),
  };
}
