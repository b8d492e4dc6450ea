/** Runs a long experiment by name: `npm run lab -- chaos --rounds 10`. Without a name it lists all experiments. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { nearestName } from '../server/src/config/nearest-name.ts';

interface Experiment {
  /** Relative to this folder. */
  readonly script: string;
  readonly about: string;
  readonly duration: string;
  /** Runs the script with the test runner of Node. */
  readonly isTest?: true;
}

export const experiments: Readonly<Record<string, Experiment>> = {
  fuzz: {
    script: 'fuzz/fuzz.ts',
    about: 'Compare random runs of tree, rights, live, tokens and requests with their models.',
    duration: 'until a run fails or you stop it',
  },
  'fuzz-million': {
    script: 'hostile-input/million.ts',
    about: 'Send a million damaged requests to one server: no 5xx, no crash, no growth of memory.',
    duration: '10 minutes',
  },
  chaos: {
    script: 'many-nodes/chaos.ts',
    about: 'Kill three nodes and their PostgreSQL under load: no acknowledged change is lost.',
    duration: '5 minutes',
  },
  'chaos-client': {
    script: 'client/bad-network/chaos.ts',
    about: 'Run the client on a network that loses, delays and cuts messages.',
    duration: '5 minutes',
  },
  crashes: {
    script: 'many-nodes/crashes.ts',
    about: 'Kill a node on SQLite a hundred times under load: no acknowledged change is lost.',
    duration: '5 minutes',
  },
  'rolling-restart': {
    script: 'deploy/rolling-restart.ts',
    about: 'Restart two nodes behind nginx in turn under load: no request fails.',
    duration: '2 minutes',
  },
  tutorial: {
    script: 'docs/whole-tutorial.ts',
    about: 'Follow docs/tutorial.md exactly, with npm install in a fresh clone.',
    duration: '1 minute',
    isTest: true,
  },
  'login-times': {
    script: 'login-times/measure.ts',
    about: 'Compare the CPU time of refused logins: they must not reveal which users exist.',
    duration: '1 minute',
  },
  'refresh-race': {
    script: 'many-nodes/measure-refresh-race.ts',
    about: 'Refresh one token concurrently on three nodes: exactly one request succeeds.',
    duration: '1 minute',
  },
  'slow-clients': {
    script: 'slow-clients/measure.ts',
    about: 'Measure the effect of 1,000 clients that send one byte every few seconds.',
    duration: '2 minutes',
  },
  'unread-subscriptions': {
    script: 'slow-clients/measure-unread-subscriptions.ts',
    about: 'Open 10,000 subscriptions without reading them: the server survives and serves others.',
    duration: '2 minutes',
  },
  'large-tree': {
    script: 'large-tree/measure.ts',
    about: 'Compare the cost of requests on a million folders and on a thousand.',
    duration: '5 minutes',
  },
  traces: {
    script: 'traces/measure.ts',
    about: 'Compare the cost of requests with and without traces.',
    duration: '2 minutes',
  },
  import: {
    script: 'cli/measure-import.ts',
    about: 'Import a directory of 100,000 entries on a terminal, once completely and once interrupted.',
    duration: '2 minutes',
  },
  copy: {
    script: 'copy/measure.ts',
    about: 'Copy 100,000 folders to PostgreSQL and back.',
    duration: '2 minutes',
  },
};

export function listExperiments(): string {
  const width = Math.max(...Object.keys(experiments).map((name) => name.length));
  const rows = Object.entries(experiments).map(
    ([name, { about, duration }]) => `  ${name.padEnd(width)}  ${about} (${duration})`,
  );
  return `Usage: npm run lab -- <name> [options]

${rows.join('\n')}

Each experiment prints its options with --help.

Examples:
  npm run lab -- fuzz tokens --minutes 5
  npm run lab -- chaos --rounds 10`;
}

async function run({ script, isTest }: Experiment, options: readonly string[]): Promise<number> {
  const file = join(import.meta.dirname, script);
  const nodeOptions = [...process.execArgv, ...(isTest ? ['--test'] : [])];
  const child = spawn(process.execPath, [...nodeOptions, file, ...options], { stdio: 'inherit' });
  // Ctrl-C reaches the child process as well. The experiment decides how it stops.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function main([name, ...options]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help') {
    console.log(listExperiments());
    return 0;
  }
  const experiment = Object.hasOwn(experiments, name) ? experiments[name] : undefined;
  if (experiment) return run(experiment, options);
  const suggestion = nearestName(name, Object.keys(experiments));
  const hint = suggestion ? ` Did you mean ${suggestion}?` : '';
  console.error(`There is no experiment ${name}.${hint}\n\n${listExperiments()}`);
  return 2;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
