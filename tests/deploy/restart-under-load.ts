/** Restarts both nodes one after the other under load. Clients must see no failure except closed sockets. */

import { createClient, type TreeChange } from '@espalier/client';
import { eventually } from '../support/eventually.ts';
import { Tally } from '../many-nodes/chaos/tally.ts';
import { administrator } from '../many-nodes/node-process.ts';
import type { NodesBehindNginx } from './nodes-behind-nginx.ts';
import { SteadyLoad } from './steady-load.ts';

export interface RestartOptions {
  /** Each round restarts both nodes. */
  readonly rounds: number;
  readonly onProgress?: (text: string) => void;
}

export interface RestartResult {
  readonly tally: Tally;
  /** Sorted names of the folders that the load has created. All lists must be equal. */
  readonly names: {
    readonly acknowledged: readonly string[];
    readonly stored: readonly string[];
    /** Received by `watch()`. */
    readonly received: readonly string[];
    /** In the tree that `watch()` returned, at the end. */
    readonly watched: readonly string[];
  };
  /** Received changes that are not creations. */
  readonly otherChanges: readonly TreeChange[];
}

const receiveTimeoutMs = 30_000;

export async function restartUnderLoad(
  testbed: NodesBehindNginx,
  { rounds, onProgress = () => undefined }: RestartOptions,
): Promise<RestartResult> {
  const tally = new Tally((text) => onProgress(`VIOLATION ${text}`));
  const { url } = testbed.nginx;
  const client = createClient({ url });
  const changes: TreeChange[] = [];
  await client.login(administrator);
  const { id: parentId } = await client.folders.create({ name: 'under load' });
  const tree = await client.watch({ under: parentId });
  try {
    tree.onChange((change) => changes.push(change));
    const load = new SteadyLoad(url, parentId, tally);
    const isReceived = (name: string) => changes.some(({ path }) => path === `/${name}`);
    const waitForLatest = async () => {
      const count = load.createdNames.length;
      await eventually(() => load.createdNames.length > count, 'another folder is created', receiveTimeoutMs);
      const name = load.createdNames.at(-1)!;
      await eventually(() => isReceived(name), `${name} is received`, receiveTimeoutMs);
    };
    load.begin();
    try {
      await waitForLatest();
      for (let round = 1; round <= rounds; round++) {
        for (const index of testbed.urls.keys()) {
          await testbed.restart(index);
          tally.count('restarts');
          await waitForLatest();
          onProgress(`${tally.seconds.toFixed(1)} s: node ${index + 1} was restarted, round ${round}`);
        }
      }
    } finally {
      await load.end();
    }
    await eventually(() => load.createdNames.every(isReceived), 'all changes are received', receiveTimeoutMs);
    const storedNames: string[] = [];
    for await (const { name } of client.folders.children(parentId)) storedNames.push(name);
    countProxiedRequests(testbed, tally);
    return {
      tally,
      names: {
        acknowledged: load.createdNames.toSorted(),
        stored: storedNames.toSorted(),
        received: changes
          .filter(({ kind }) => kind === 'CREATE')
          .map(({ path }) => path!.slice(1))
          .toSorted(),
        watched: tree
          .children(parentId)
          .map(({ name }) => name)
          .toSorted(),
      },
      otherChanges: changes.filter(({ kind }) => kind !== 'CREATE'),
    };
  } finally {
    tree.close();
    client.close();
  }
}

/** Counts the requests in the log of nginx by status, retry and lost response. */
function countProxiedRequests({ nginx }: NodesBehindNginx, tally: Tally): void {
  for (const { status, nodes, isLost, request } of nginx.requests) {
    tally.count(`nginx: responses with ${status}`);
    if (nodes.length > 1) tally.count('nginx: retried at the other node');
    if (isLost) tally.count('nginx: lost a response');
    if (status >= 500 && status !== 503)
      tally.reportViolation(`nginx responded to ${request} with ${status}`);
  }
}
