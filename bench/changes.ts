/** Scenarios for changes: new folders by 32 concurrent writers, and imports. */

import type { Client } from '@espalier/client';
import { numberPlaceholder } from './load.ts';
import {
  startBaselineSubject,
  measureInTurn,
  createSiteSubject,
  tryRequest,
  type Subject,
} from './measure.ts';
import { recordRequest } from './request.ts';
import type { Bench, Group, Scenario, Series, PreparedSite } from './scenario.ts';
import { administrator, type DatabaseName } from './site.ts';
import { repeat, type Tree } from './tree.ts';

interface ChangeScenario extends Scenario {
  readonly call: (client: Client, tree: Tree) => Promise<unknown>;
  readonly connections: number;
  /** Number of folders that a request creates. */
  readonly folders: number;
}

const importSize = 2_000;

const scenarios: readonly ChangeScenario[] = [
  {
    name: 'create',
    about: 'TypeScript client: create folders over 32 connections',
    call: (client, { inboxId }) => client.folders.create({ name: numberPlaceholder, parentId: inboxId }),
    connections: 32,
    folders: 1,
  },
  {
    name: 'import',
    about: `TypeScript client: import ${importSize.toLocaleString('en')} folders`,
    call: (client, { campusId }) => {
      const folders = repeat(importSize - 1, (index) => ({
        name: `Item ${index}`,
        title: `Item no. ${index}`,
      }));
      return client.folders.importTree([{ name: numberPlaceholder, folders }], { parentId: campusId });
    },
    connections: 1,
    folders: importSize,
  },
];

export const changes: Group = {
  name: 'changes',
  scenarios,
  async run(chosenNames, { database, sites }, bench) {
    for (const scenario of scenarios.filter(({ name }) => chosenNames.includes(name))) {
      bench.note(`${scenario.name}, ${database}`);
      await measure(scenario, { database, sites }, bench);
    }
  },
};

async function measure(
  { name, call, connections, folders }: ChangeScenario,
  { database, sites }: { database: DatabaseName; sites: readonly PreparedSite[] },
  bench: Bench,
): Promise<void> {
  const subjects: Subject[] = [];
  const sentRequests = [];
  for (const { label, site, tree } of sites) {
    const request = await recordRequest({ url: site.url, credentials: administrator }, (client) =>
      call(client, tree),
    );
    const numberedRequest = {
      ...request,
      body: request.body.replace(numberPlaceholder, '0'.repeat(numberPlaceholder.length)),
    };
    const { response } = await tryRequest(site, numberedRequest);
    sentRequests.push({ request: numberedRequest, response });
    const variation = { isNumbered: true, connections, slackBytes: 16 };
    const subject = createSiteSubject(label, site, { request, response }, bench, variation);
    subjects.push(countByFolder(subject, folders));
  }
  const baseline = await startBaselineSubject(sentRequests[0]!, bench);
  const rounds = await measureInTurn([...subjects, baseline], bench);
  const [siteRounds, baselineRounds] = [rounds.slice(0, -1), rounds.at(-1)!];
  const toSeries = (values: 'cpuMicroseconds' | 'perSecond'): Series[] =>
    siteRounds.map((each) => ({ label: each.label, values: each[values] }));
  bench.report({
    scenario: name,
    database,
    unit: 'µs CPU per folder',
    series: toSeries('cpuMicroseconds'),
    // The baseline of an import would be one request for many folders.
    ...(folders === 1 && {
      baseline: { label: baselineRounds.label, values: baselineRounds.cpuMicroseconds },
    }),
  });
  bench.report({ scenario: name, database, unit: 'folders/s', series: toSeries('perSecond') });
}

/** Returns a subject that counts created folders instead of requests. */
function countByFolder(subject: Subject, folders: number): Subject {
  return {
    ...subject,
    async run(minFolders) {
      const requests = Math.ceil(minFolders / folders);
      return { ...(await subject.run(requests)), done: requests * folders };
    },
  };
}
