/** Finds a free port below the ephemeral range, so that it stays free while the server on it restarts. */

import { once } from 'node:events';
import { createServer } from 'node:net';

const ports = { first: 20_000, count: 12_000 };

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = ports.first + Math.floor(Math.random() * ports.count);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    return port;
  }
}
