/** Both nodes are restarted one after the other while people work, and nobody may notice more than a closed socket. */

import { createClient, type TreeChange } from '@espalier/client';
import { eventually } from '../support/eventually.ts';
import { Tally } from '../many-nodes/chaos/tally.ts';
import { administrator } from '../many-nodes/node-process.ts';
import type { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { SteadyLoad } from './steady-load.ts';

export interface RestartOptions {
  /** Each restarts both. */
  readonly rounds: number;
  readonly onProgress?: (text: string) => void;
}

export interface Restarted {
  readonly tally: Tally;
  /** Names of folders, in order: as acknowledged to those who made them, as they are, and as told by `watch`. */
  readonly made: readonly string[];
  readonly found: readonly string[];
  readonly told: readonly string[];
  /** In the tree that `watch` keeps. */
  readonly watched: readonly string[];
  /** Of what `watch` told, that was no creation. */
  readonly otherChanges: readonly TreeChange[];
}

const toldWithinMs = 30_000;

export async function restartUnderLoad(
  bed: NodesBehindNginx,
  { rounds, onProgress = () => undefined }: RestartOptions,
): Promise<Restarted> {
  const tally = new Tally((text) => onProgress(`VIOLATION ${text}`));
  const { url } = bed.nginx;
  const client = createClient({ url });
  const changes: TreeChange[] = [];
  await client.login(administrator);
  const { id: under } = await client.folders.create({ name: 'under load' });
  const tree = await client.watch({ under });
  try {
    tree.onChange((change) => changes.push(change));
    const load = new SteadyLoad(url, under, tally);
    const isTold = (name: string) => changes.some(({ path }) => path === `/${name}`);
    const latestIsTold = async () => {
      const count = load.made.length;
      await eventually(() => load.made.length > count, 'somebody changes something', toldWithinMs);
      const name = load.made.at(-1)!;
      await eventually(() => isTold(name), `${name} is told`, toldWithinMs);
    };
    load.begin();
    try {
      await latestIsTold();
      for (let round = 1; round <= rounds; round++) {
        for (const place of bed.urls.keys()) {
          await bed.restart(place);
          tally.count('restarts');
          await latestIsTold();
          onProgress(`${tally.seconds.toFixed(1)} s: node ${place + 1} was restarted, round ${round}`);
        }
      }
    } finally {
      await load.end();
    }
    await eventually(() => load.made.every(isTold), 'all is told', toldWithinMs);
    const found: string[] = [];
    for await (const { name } of client.folders.children(under)) found.push(name);
    countPassed(bed, tally);
    return {
      tally,
      made: load.made.toSorted(),
      found: found.toSorted(),
      told: changes
        .filter(({ kind }) => kind === 'CREATE')
        .map(({ path }) => path!.slice(1))
        .toSorted(),
      watched: tree
        .children(under)
        .map(({ name }) => name)
        .toSorted(),
      otherChanges: changes.filter(({ kind }) => kind !== 'CREATE'),
    };
  } finally {
    tree.close();
    client.close();
  }
}

/** What the proxy says of it, who was asked by nobody to be kind. */
function countPassed({ nginx }: NodesBehindNginx, tally: Tally): void {
  for (const { status, nodes, isLost, request } of nginx.passed) {
    tally.count(`nginx: answers with ${status}`);
    if (nodes.length > 1) tally.count('nginx: turned to the other node');
    if (isLost) tally.count('nginx: lost an answer');
    if (status >= 500 && status !== 503) tally.violation(`nginx answered ${request} with ${status}`);
  }
}
