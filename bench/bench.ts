/** Runs the named scenarios, or all scenarios, and prints one table: `npm run bench -- reads --database sqlite` */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatPage } from '../docs/generate/markdown.ts';
import { nearestName } from '../server/src/config/nearest-name.ts';
import { startBaseline, startLoad } from './measure.ts';
import { sizing } from '../tests/sizing/sizing.ts';
import { abuse } from '../tests/overload/abuse.ts';
import { storm } from '../tests/overload/storm.ts';
import { findFailures, toStudyTable, type Study } from '../tests/overload/study.ts';
import { changes } from './changes.ts';
import { live } from './live.ts';
import { reads } from './reads.ts';
import { sessions } from './sessions.ts';
import { withSites } from './sites.ts';
import { startup } from './startup.ts';
import { describeMachine, createResultsPage, toJson, toTable } from './report.ts';
import type { Bench, Group, Result, Scenario } from './scenario.ts';
import { databaseNames, type DatabaseName } from './site.ts';
import { minFolders } from './tree.ts';

const groups: readonly Group[] = [reads, sessions, changes, live, startup];
/** Studies take longer, and print their own table. */
const studies: readonly Study[] = [abuse, storm, sizing];

const usage = `Usage: npm run bench -- [scenario or group …] [options]

Measures the CPU time of each request, compared with a minimal node:http server that returns the same response.

${groups.map(describeGroup).join('\n')}
only by name:
${studies.map(describeScenario).join('\n')}

Options:
  --database sqlite|postgres   default: both
  --folders 100000             size of the tree, at least ${minFolders}
  --compare-sizes              measure a tree of ${minFolders} and of a million folders in the same rounds
  --api-key                    send each read with an auth token and with an API key in the same rounds
  --against PATH               measure another checkout of this repository in the same rounds
  --setting NAME=VALUE         set ESPALIER_NAME for the server; can be repeated
  --rounds 7                   rounds of about 0.7 s of CPU time
  --requests N                 at most N requests a round, only to check that a scenario works
  --json FILE                  write every round to a file
  --results                    also write bench/RESULTS.md, with the table for README

Examples:
  npm run bench -- reads --database sqlite
  npm run bench -- client-page search --against ../old --database postgres
  npm run bench -- reads --compare-sizes`;

const { values, positionals } = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}

const chosenNames = positionals.length === 0 ? groups.flatMap(listNames) : positionals.flatMap(findScenarios);
const rounds = parseWholeNumber('rounds', values.rounds, 1);
const stopController = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopController.abort(new Error(`Stopped by ${name}.`)));
}

const results: Result[] = [];
await run();
if (results.length > 0) console.log(formatResults());
if (values.json) writeFileSync(values.json, toJson(results));
if (values.results) writeFileSync(new URL('RESULTS.md', import.meta.url), await createPage());
for (const study of studies.filter(({ name }) => chosenNames.includes(name))) await runStudy(study);

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        database: { type: 'string' },
        folders: { type: 'string' },
        'compare-sizes': { type: 'boolean', default: false },
        'api-key': { type: 'boolean', default: false },
        against: { type: 'string' },
        setting: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string', default: '7' },
        requests: { type: 'string', default: '1000000' },
        json: { type: 'string' },
        results: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return quit((error as Error).message);
  }
}

async function run(): Promise<void> {
  const compareSizes = values['compare-sizes'];
  const folders = values.folders ?? (compareSizes ? '1000000' : '100000');
  const load = startLoad(stopController.signal);
  const baseline = startBaseline(stopController.signal);
  const bench: Bench = {
    databases: findDatabases(values.database),
    folders: parseWholeNumber('folders', folders, minFolders),
    compareSizes,
    withApiKey: values['api-key'],
    against: values.against,
    settings: Object.fromEntries(values.setting.map((each) => each.split(/=(.*)/s, 2) as [string, string])),
    rounds,
    maxRequests: parseWholeNumber('requests', values.requests, 1),
    load,
    baseline,
    signal: stopController.signal,
    note: (text) => console.error(text),
    report: (result) => {
      results.push(result);
      console.error(toTable([result]).split('\n').slice(1).join('\n'));
    },
  };
  try {
    const chosenGroups = groups
      .map((group) => ({ group, names: listNames(group).filter((name) => chosenNames.includes(name)) }))
      .filter(({ names }) => names.length > 0);
    for (const database of chosenGroups.length > 0 ? bench.databases : []) {
      await withSites(database, bench, async (sites) => {
        for (const { group, names } of chosenGroups) await group.run(names, { database, sites }, bench);
      });
    }
  } catch (error) {
    if (!stopController.signal.aborted) throw error;
    console.error(`${(error as Error).message} The table has the results so far.`);
    process.exitCode = 1;
  } finally {
    await load.stop();
    await baseline.stop();
  }
}

async function runStudy(study: Study): Promise<void> {
  const note = (text: string) => console.error(`${study.name}: ${text}`);
  const measures = await study.run({ rounds, note, signal: stopController.signal });
  console.log(`\n${study.name}\n\n${toStudyTable(measures)}`);
  for (const failure of findFailures(measures)) {
    console.error(`${study.name}: ${failure}`);
    process.exitCode = 1;
  }
}

function formatResults(): string {
  return `\n${describeMachine()}\n\n${toTable(results)}`;
}

async function createPage(): Promise<string> {
  const scenarios = groups.flatMap((group) => group.scenarios);
  const date = new Date(Date.now()).toISOString().slice(0, 10);
  return formatPage('RESULTS.md', createResultsPage(results, { scenarios, rounds, date }));
}

function listNames({ scenarios }: Group): string[] {
  return scenarios.map(({ name }) => name);
}

function findScenarios(name: string): string[] {
  const group = groups.find((each) => each.name === name);
  if (group) return listNames(group);
  const all = [...groups.flatMap(listNames), ...studies.map((study) => study.name)];
  if (all.includes(name)) return [name];
  const suggestion = nearestName(name, [...groups.map((each) => each.name), ...all]);
  const hint = suggestion ? ` Did you mean ${suggestion}?` : '';
  return quit(`There is no scenario or group ${name}.${hint}`);
}

function describeGroup({ name, scenarios }: Group): string {
  return [`${name}:`, ...scenarios.map(describeScenario)].join('\n');
}

function describeScenario({ name, about }: Scenario): string {
  return `  ${name.padEnd(18)} ${about}`;
}

function findDatabases(name: string | undefined): readonly DatabaseName[] {
  if (name === undefined) return databaseNames;
  const found = databaseNames.filter((each) => each === name);
  return found.length > 0 ? found : quit('--database takes sqlite or postgres.');
}

function parseWholeNumber(name: string, text: string, min: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min) return number;
  return quit(`--${name} must be a whole number of at least ${min}.`);
}

function quit(text: string): never {
  console.error(`${text}\nSee npm run bench -- --help.`);
  process.exit(1);
}
