/** Binds the HTTP server to its address, or to two addresses when `localhost` resolves to IPv4 and IPv6. */

import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import { createServer, Server as Port, type AddressInfo, type Socket } from 'node:net';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Sets `SO_REUSEPORT`: several workers listen on the same port, and the kernel distributes the connections. */
  readonly reusePort?: boolean;
  /** Rejects a port that another server uses, even if both servers set `SO_REUSEPORT`. */
  readonly requireUnused?: boolean;
}

export interface Listening {
  readonly address: AddressInfo;
  /** Stops accepting connections. Resolves when the last connection is closed. */
  close(): Promise<void>;
}

/**
 * Rejects if the first address cannot be bound. A second address that cannot be bound is skipped, except with
 * `requireUnused` if it is in use: the next worker would share it with the other server.
 */
export async function listen(
  server: Port,
  options: ListenOptions,
  findAddresses = addressesOf,
): Promise<Listening> {
  const addresses = await findAddresses(options.host);
  await listenOn(server, { ...options, host: addresses[0]! });
  const address = server.address() as AddressInfo;
  const ports: Port[] = [server];
  for (const other of addresses.slice(1)) {
    // The server handles these connections as its own, so that the same limits apply.
    const { allowHalfOpen = false } = server as Port & { allowHalfOpen?: boolean };
    const extra = createServer({ allowHalfOpen, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket),
    );
    if (server.maxConnections) extra.maxConnections = server.maxConnections;
    try {
      await listenOn(extra, { ...options, host: other, port: address.port });
      ports.push(extra);
    } catch (error) {
      if (options.requireUnused && (error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error;
    }
  }
  return {
    address,
    async close() {
      // Not `close` of the HTTP server, which also closes connections while a response is being sent.
      await Promise.all(ports.map((each) => new Promise((done) => Port.prototype.close.call(each, done))));
    },
  };
}

async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

async function listenOn(
  server: Port,
  { host, port, reusePort = false, requireUnused = false }: ListenOptions,
): Promise<void> {
  if (requireUnused && port !== 0) await probePort({ host, port });
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
}

/** Binds the port for a moment. Without `reusePort`, this fails if any other socket listens on the port. */
export async function probePort(options: ListenOptions): Promise<void> {
  // `exclusive`: in a worker, Node would otherwise bind the port in the primary.
  const server = createServer().listen({ ...options, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
