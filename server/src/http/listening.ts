/** The ports on which the HTTP server listens: one, or two when `localhost` has an address of each kind. */

import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import { createServer, Server as Port, type AddressInfo, type Socket } from 'node:net';

export interface Listening {
  readonly address: AddressInfo;
  /** Takes no more connections from now on; resolves when the last one is gone. */
  close(): Promise<void>;
}

/** Rejects if the first address cannot be had; a second one that cannot be had is done without. */
export async function listen(
  server: Port,
  { host, port }: { readonly host: string; readonly port: number },
  findAddresses = addressesOf,
): Promise<Listening> {
  const addresses = await findAddresses(host);
  await listenOn(server, port, addresses[0]!);
  const address = server.address() as AddressInfo;
  const ports: Port[] = [server];
  for (const other of addresses.slice(1)) {
    // Its connections are the server's own: the same limits, and one place that knows all of them.
    const { allowHalfOpen = false, pauseOnConnect = false } = server as Port & {
      allowHalfOpen?: boolean;
      pauseOnConnect?: boolean;
    };
    const extra = createServer({ allowHalfOpen, pauseOnConnect, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket),
    );
    if (server.maxConnections) extra.maxConnections = server.maxConnections;
    const isThere = await listenOn(extra, address.port, other).then(
      () => true,
      () => false,
    );
    if (isThere) ports.push(extra);
  }
  return {
    address,
    async close() {
      // Not as an HTTP server closes: that would cut answers that are still being sent.
      await Promise.all(ports.map((each) => new Promise((done) => Port.prototype.close.call(each, done))));
    },
  };
}

async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

async function listenOn(port: Port, number: number, host: string): Promise<void> {
  port.listen(number, host);
  await once(port, 'listening');
}
