/** Scenarios for the time until a server responds, and for the memory of an idle server. */

import { setTimeout as sleep } from 'node:timers/promises';
import { rootNameQuery } from '../tests/contract/graph-queries.ts';
import { readResidentBytes } from './processes.ts';
import { post, recordResponse } from './request.ts';
import type { Group } from './scenario.ts';

const idleMs = 5_000;
const megabyte = 1e6;

export const startup: Group = {
  name: 'startup',
  scenarios: [
    { name: 'start', about: 'Start: from launching the program to its first response' },
    { name: 'memory', about: 'Memory: resident memory of an idle server' },
  ],
  async run(chosenNames, { database, sites }, bench) {
    const times = sites.map((): number[] => []);
    const memory = sites.map((): number[] => []);
    const isShort = bench.maxRequests < 1_000;
    for (let round = 0; round < bench.rounds; round++) {
      for (const [index, { site }] of sites.entries()) {
        const authorization = `Bearer ${await site.logIn()}`;
        await site.stopServer();
        const start = performance.now();
        await site.startServer();
        const request = post('/graphql', { query: rootNameQuery }, { authorization });
        const { status } = await recordResponse(site.url, request);
        if (status !== 200) throw new Error(`The first response after a start is ${status}.`);
        times[index]!.push(performance.now() - start);
        await sleep(isShort ? 0 : idleMs, undefined, { signal: bench.signal });
        memory[index]!.push(readResidentBytes(site.pid) / megabyte);
      }
    }
    const toSeries = (values: number[][]) =>
      sites.map(({ label }, index) => ({ label, values: values[index]! }));
    const report = (scenario: string, unit: string, values: number[][]) =>
      chosenNames.includes(scenario) && bench.report({ scenario, database, unit, series: toSeries(values) });
    report('start', 'ms', times);
    report('memory', 'MB', memory);
  },
};
