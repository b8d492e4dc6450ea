/** Scenarios for the reads of published clients, as the administrator and as a user with one grant inside the tree. */

import { readFileSync } from 'node:fs';
import type { Client } from '@espalier/client';
import { createTreeQueries, levelPageSize } from '../console/src/tree/state/tree-queries.ts';
import type { Credentials } from '../tests/support/api-client.ts';
import { nestedNamesQuery, rootNameQuery } from '../tests/contract/graph-queries.ts';
import {
  startBaselineSubject,
  measureCpu,
  createSiteSubject,
  tryRequest,
  type SentRequest,
} from './measure.ts';
import { post, recordRequest, type BenchRequest } from './request.ts';
import type { Bench, DatabaseSites, Group, Scenario } from './scenario.ts';
import { administrator, type Site } from './site.ts';
import { commonText, grantedUser, rareText, roomsPath, type Tree } from './tree.ts';

type ReadScenario = Scenario & (ByClient | ByText);
interface ByClient {
  /** A call of `@espalier/client`. The scenario sends its first request. */
  readonly call: (client: Client, tree: Tree) => Promise<unknown>;
}
interface ByText {
  /** The body that another client sends. */
  readonly body: (tree: Tree) => object;
}

const neverAborted = new AbortController().signal;

export const readScenarios: readonly ReadScenario[] = [
  {
    name: 'contract-name',
    about: 'GraphQL: the name of one folder',
    body: () => ({ query: rootNameQuery }),
  },
  {
    name: 'contract-levels',
    about: 'GraphQL: the names of 111 folders on three levels',
    body: ({ atriumId }) => ({ query: nestedNamesQuery(3, `(id:"${atriumId}")`) }),
  },
  {
    name: 'contract-page',
    about: 'GraphQL: a page of 50 names',
    body: ({ lettersId }) => ({ query: nestedNamesQuery(2, `(id:"${lettersId}")`, '(first:50)') }),
  },
  {
    name: 'example-page',
    about: 'Python example: a page of 50 folders with paths',
    body: () => ({ query: pythonQuery(), variables: { path: roomsPath, after: null } }),
  },
  {
    name: 'client-page',
    about: 'TypeScript client: a page of 50 subfolders',
    call: (client, { lettersId }) => client.folders.children(lettersId, { pageSize: 50 }).next(),
  },
  {
    name: 'console-level',
    about: 'Console: a tree level of 50 folders',
    call: (client, { roomsId }) =>
      createTreeQueries(client).readRange(roomsId, { from: 0, to: levelPageSize }, neverAborted),
  },
  {
    name: 'watch',
    about: 'TypeScript client: the first 100 folders of `watch()`',
    call: (client, { campusId }) => client.watch({ under: campusId, pageSize: 100 }),
  },
  {
    name: 'folder-path',
    about: 'TypeScript client: one folder with its path, six levels deep',
    call: (client, { deepId }) => client.folders.byId(deepId),
  },
  {
    name: 'search',
    about: 'TypeScript client: the first 20 of 30 search results',
    call: (client) => client.folders.search(rareText, { pageSize: 20 }).next(),
  },
  {
    name: 'search-common',
    about: 'TypeScript client: the first 20 of 31 results for a text of common letters',
    call: (client) => client.folders.search(commonText, { pageSize: 20 }).next(),
  },
];

const viewers: Readonly<Record<string, Credentials>> = { administrator, 'one grant': grantedUser };

export const reads: Group = {
  name: 'reads',
  scenarios: readScenarios,
  async run(chosenNames, { database, sites }, bench) {
    for (const scenario of readScenarios.filter(({ name }) => chosenNames.includes(name))) {
      for (const viewer of Object.keys(viewers)) {
        bench.note(`${scenario.name}, ${viewer}, ${database}`);
        await measure(scenario, { database, viewer, sites }, bench);
      }
    }
  },
};

async function measure(
  scenario: ReadScenario,
  { database, viewer, sites }: DatabaseSites & { readonly viewer: string },
  bench: Bench,
): Promise<void> {
  const sentRequests: SentRequest[] = [];
  for (const { site, tree } of sites) {
    const request = await createRequest(scenario, { site, tree, credentials: viewers[viewer]! });
    sentRequests.push(await tryRequest(site, request));
  }
  const subjects = sites.map(({ label, site }, index) =>
    createSiteSubject(label, site, sentRequests[index]!, bench),
  );
  if (bench.withApiKey) {
    const { site } = sites[0]!;
    const request = await withApiKey(sentRequests[0]!.request, site);
    subjects.push(createSiteSubject('with an API key', site, await tryRequest(site, request), bench));
  }
  const results = await measureCpu(subjects, await startBaselineSubject(sentRequests[0]!, bench), bench);
  bench.report({ scenario: scenario.name, database, viewer, unit: 'µs CPU', ...results });
}

/** Replaces the auth token of a request by an API key with the same rights. */
async function withApiKey(request: BenchRequest, { url }: Site): Promise<BenchRequest> {
  const send = async (query: string) => {
    const response = await fetch(url + request.path, { ...post(request.path, { query }, request.headers) });
    return ((await response.json()) as { data: { createApiKey: { key: string } | null } }).data;
  };
  const createKey = (role: string) =>
    send(`mutation{createApiKey(input: {name: "benchmark", level: MANAGE ${role}}){key}}`);
  const created =
    (await createKey('isAdministrator: true')).createApiKey ?? (await createKey('')).createApiKey;
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${created!.key}` } };
}

export async function createRequest(
  scenario: ReadScenario,
  { site, tree, credentials }: { site: Pick<Site, 'url' | 'logIn'>; tree: Tree; credentials: Credentials },
): Promise<BenchRequest> {
  if ('call' in scenario) {
    return recordRequest({ url: site.url, credentials }, (client) => scenario.call(client, tree));
  }
  const authorization = `Bearer ${await site.logIn(credentials)}`;
  return post('/graphql', scenario.body(tree), { authorization });
}

function pythonQuery(): string {
  const file = new URL('../examples/python/espalier_client.py', import.meta.url);
  return /query = """(query .*?)"""/s.exec(readFileSync(file, 'utf8'))![1]!;
}
