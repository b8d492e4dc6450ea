/** Binds the port of the server (two addresses if `localhost` resolves to IPv4 and IPv6). */

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, Server as Port, type AddressInfo, type Socket } from 'node:net';
import type { Settings } from '../config/settings-table.ts';
import { StartError } from '../config/start-error.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Sets `SO_REUSEPORT`: several workers listen on the same port, and the kernel distributes the connections. */
  readonly reusePort?: boolean;
  /** Rejects a port that another server uses, even if both servers set `SO_REUSEPORT`. */
  readonly requireUnused?: boolean;
}

export interface Listener {
  readonly address: AddressInfo;
  /** Stops accepting connections. Resolves when the last connection is closed. */
  close(): Promise<void>;
}

/**
 * The number of connections that may wait until the server accepts them. With Node's default of 511, the system resets some of the
 * connections when thousands of clients connect at once, for example after a restart. The system may have a lower limit.
 */
const backlog = 4_096;

const probeTimeoutMs = 1_000;

/**
 * Rejects if the first address cannot be bound. A second address that cannot be bound is skipped, except with
 * `requireUnused` if it is in use: the next worker would share it with the other server.
 */
export async function listen(
  server: Port,
  options: ListenOptions,
  findAddresses = addressesOf,
): Promise<Listener> {
  const addresses = await findAddresses(options.host);
  await listenOn(server, { ...options, host: addresses[0]! });
  const address = server.address() as AddressInfo;
  const ports: Port[] = [server];
  for (const other of addresses.slice(1)) {
    // The server handles these connections as its own, so that the same limits apply.
    const { allowHalfOpen = false } = server as Port & { allowHalfOpen?: boolean };
    const extraPort = createServer({ allowHalfOpen, noDelay: true }, (socket: Socket) =>
      server.emit('connection', socket),
    );
    if (server.maxConnections) extraPort.maxConnections = server.maxConnections;
    try {
      await listenOn(extraPort, { ...options, host: other, port: address.port });
      ports.push(extraPort);
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
  const records = await lookup(host, { all: true });
  return [...new Set(records.map(({ address }) => address))];
}

async function listenOn(
  server: Port,
  { host, port, reusePort = false, requireUnused = false }: ListenOptions,
): Promise<void> {
  if (requireUnused && port !== 0) await probePort({ host, port });
  server.listen({ host, port, reusePort, backlog });
  await once(server, 'listening');
}

/** Binds the port and closes it again. Without `reusePort`, this fails if any other socket listens on the port. */
async function probePort(options: ListenOptions): Promise<void> {
  // `exclusive`: in a worker, Node would otherwise bind the port in the primary.
  const server = createServer().listen({ ...options, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** Replaces the error of a port that cannot be bound with an error that names the setting to change. */
export async function listenOrExplain<T>(
  start: () => Promise<T>,
  { host, port }: Pick<ListenOptions, 'host' | 'port'>,
  setting: 'PORT' | 'METRICS_PORT' = 'PORT',
): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const flag = setting.toLowerCase().replace('_', '-');
      throw new StartError(
        `Port ${port} on ${host} is used by ${await nameProgram(host, port)}. Stop it, or choose another port with ESPALIER_${setting} or --${flag}.`,
        { cause },
      );
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(`Cannot listen on ${host} port ${port}: ${message}.`, { cause });
    }
    if (code === 'ENOTSUP') {
      throw new StartError(
        'Several workers need the socket option SO_REUSEPORT, which this system does not support. Set ESPALIER_WORKERS to 1.',
        { cause },
      );
    }
    throw cause;
  }
}

/** Names the program on a port by its response to a request. */
async function nameProgram(host: string, port: number): Promise<string> {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}/openapi.json`;
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(probeTimeoutMs) });
    const { info } = (await response.json().catch(() => ({}))) as { info?: { title?: unknown } };
    if (info?.title === 'Espalier') return 'another Espalier server';
    const server = response.headers.get('server') ?? '';
    return /^[\w./ ()-]{1,60}$/.test(server) ? `another web server (${server})` : 'another web server';
  } catch {
    // The program does not use HTTP, or does not respond in time.
    return 'another program';
  }
}

/** Called before the database is created: the first start prints a password once, so it must not fail afterwards. */
export async function requireFreePorts(settings: Settings): Promise<void> {
  const { host, port, metricsHost, metricsPort = 0 } = settings;
  if (port !== 0) await listenOrExplain(() => probePort({ host, port }), { host, port });
  const metrics = { host: metricsHost, port: metricsPort };
  if (metricsPort !== 0) await listenOrExplain(() => probePort(metrics), metrics, 'METRICS_PORT');
}

/** Checks that the system supports `SO_REUSEPORT`, before the first worker prepares the database. */
export async function requireReusePort({ host }: Settings): Promise<void> {
  const anyPort = { host, port: 0 };
  await listenOrExplain(() => probePort({ ...anyPort, reusePort: true }), anyPort);
}

/** The API root, without a slash at its end. */
export function baseUrl({ host, basePath, tlsCertFile }: Settings, port: number): string {
  const isWildcard = host === '0.0.0.0' || host === '::';
  const hostname = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tlsCertFile ? 'https' : 'http'}://${hostname}:${port}${basePath}`;
}
