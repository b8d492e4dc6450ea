/**
 * Measures the CPU time of the server per request on a tree of 1,000 folders and on a tree of a million. Alternates
 * between the trees, so that other load affects both equally. `npm run lab -- large-tree --folders 1000000`
 */

import { statSync } from 'node:fs';
import { sqlite } from '../support/databases.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { EstateServer } from './estate-server.ts';
import { findEstate, importBatch, createEstate, type RunQuery, type Estate } from './estate.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { shapeEstate } from './tree-shape.ts';

interface CreatedEstate {
  readonly server: EstateServer;
  readonly estate: Estate;
  /** The administrator and a user with one grant. */
  readonly viewers: readonly { readonly name: string; readonly runQuery: RunQuery }[];
  readonly requests: Map<Scenario, number>;
}

const smallSize = 1_000;
const maxRatio = 1.5;
const requestsPerTurn = { query: 60, change: 20 };
const warmUpTurns = 3;

const values = parseScriptOptions(
  'npm run lab -- large-tree [--folders 1000000] [--rounds 15]\n\nMeasures requests on a large tree and on a tree of a thousand folders.',
  ['folders', 'rounds'],
);
const sizes = [smallSize, parseWholeNumber(smallSize, values.folders ?? '1000000', '--folders')];
const rounds = parseWholeNumber(1, values.rounds ?? '15', '--rounds');
const databases = await Promise.all(sizes.map(() => sqlite.create()));
const servers: EstateServer[] = [];
try {
  const estates: CreatedEstate[] = [];
  for (const [index, size] of sizes.entries()) {
    const server = await EstateServer.start(databases[index]!.url);
    servers.push(server);
    estates.push(await createEstateOn(server, size, databases[index]!.url.slice('sqlite:'.length)));
  }
  process.exitCode = (await compare(estates)) ? 0 : 1;
} finally {
  for (const server of servers) await server.stop();
  for (const database of databases) await database.remove();
}

async function createEstateOn(server: EstateServer, size: number, file: string): Promise<CreatedEstate> {
  const shape = shapeEstate(size);
  const id = await createEstate(server.query, { batches: [] });
  const cpuBefore = await server.cpuMicroseconds();
  const start = performance.now();
  for (const batch of shape.batches) await importBatch(server.query, id, batch);
  const seconds = (performance.now() - start) / 1000;
  const cpuPerFolder = ((await server.cpuMicroseconds()) - cpuBefore) / size;
  const megabytes = (statSync(file).size + statSync(`${file}-wal`).size) / 2 ** 20;
  console.log(
    `${formatCount(size)} folders imported in ${shape.batches.length} batches: ${seconds.toFixed(1)} s, ${formatCount(size / seconds)} folders per second, ${cpuPerFolder.toFixed(1)} µs of CPU for each, ${megabytes.toFixed(1)} MiB on disk`,
  );
  const estate = await findEstate(server.query, id, shape);
  const authToken = await createUserWithOneGrant(server, id);
  const viewers = [
    { name: 'administrator', runQuery: server.query },
    {
      name: 'one grant',
      runQuery: <Data>(query: string, variables?: Record<string, unknown>) =>
        server.query<Data>(query, variables, authToken),
    },
  ];
  return { server, estate, viewers, requests: new Map() };
}

async function createUserWithOneGrant(server: EstateServer, folderId: string): Promise<string> {
  const person = { username: 'steward', password: 'walnut cabin orchard' };
  const { createUser } = await server.query<{ createUser: { user: { id: string } } }>(
    'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
    { input: person },
  );
  await server.query('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
    input: { folderId, userId: createUser.user.id, level: 'WRITE' },
  });
  return server.logIn(person);
}

/** Prints the table. Returns false if a scenario costs too much more on the larger tree. */
async function compare(estates: readonly CreatedEstate[]): Promise<boolean> {
  const rows = scenarios.flatMap((scenario) =>
    estates[0]!.viewers.map(({ name }, viewer) => ({
      name: `${scenario.name}, ${name}`,
      growsBecause: scenario.growsBecause,
      round: (each: CreatedEstate) => measureTurn(each, scenario, viewer),
      costs: estates.map(() => [] as number[]),
    })),
  );
  for (let round = -warmUpTurns; round < rounds; round++) {
    for (const row of rows) {
      const order = [...estates.entries()];
      for (const [index, each] of round % 2 === 0 ? order : order.toReversed()) {
        const cost = await row.round(each);
        if (round >= 0) row.costs[index]!.push(cost);
      }
    }
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  const printRow = (name: string, ...cells: string[]) =>
    console.log(name.padEnd(width), ...cells.map((cell) => cell.padStart(12)));
  console.log(`\nµs of CPU per request, medians of ${rounds} rounds`);
  printRow('', ...sizes.map(formatCount), 'ratio');
  const notes = new Set<string>();
  let tooExpensive = 0;
  for (const { name, costs, growsBecause } of rows) {
    const [small, large] = costs.map(median) as [number, number];
    const ratio = large / small;
    printRow(name, small.toFixed(0), large.toFixed(0), ratio.toFixed(2) + (growsBecause ? '*' : ' '));
    if (growsBecause) notes.add(`* no limit: ${growsBecause}`);
    else if (ratio > maxRatio) tooExpensive++;
  }
  console.log([...notes, ''].join('\n'));
  console.log(
    tooExpensive === 0
      ? `Every ratio is at most ${maxRatio}.`
      : `${tooExpensive} ratios are over ${maxRatio}.`,
  );
  return tooExpensive === 0;
}

async function measureTurn(
  { server, estate, viewers, requests }: CreatedEstate,
  scenario: Scenario,
  viewer: number,
) {
  const { runQuery } = viewers[viewer]!;
  const requestCount = scenario.isChange ? requestsPerTurn.change : requestsPerTurn.query;
  const start = requests.get(scenario) ?? 0;
  requests.set(scenario, start + requestCount);
  const before = await server.cpuMicroseconds();
  for (let done = 0; done < requestCount; done++) await scenario.request(runQuery, estate, start + done);
  return ((await server.cpuMicroseconds()) - before) / requestCount;
}

function parseWholeNumber(min: number, text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min) return number;
  throw new Error(`${flag} must be a whole number of at least ${min}.`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}

function formatCount(number: number): string {
  return Math.round(number).toLocaleString('en');
}
