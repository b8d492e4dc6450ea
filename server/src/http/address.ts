/** Where the service listens, in words: for whoever starts it. */

import type { AddressInfo } from 'node:net';
import { StartError } from '../start-error.ts';
import { probePort } from './listening.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

/** An address that cannot be had is for the operator to mend, by the setting of that name. */
export async function listenOrExplain<T>(
  start: () => Promise<T>,
  { host, port }: Place,
  setting: 'PORT' | 'METRICS_PORT' = 'PORT',
): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const flag = setting.toLowerCase().replace('_', '-');
      throw new StartError(
        `Port ${port} on ${host} is taken. Choose another with ESPALIER_${setting} or --${flag}.`,
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

/** Tried before anything is made: a first start that cannot listen in the end would have shown its only password in vain. */
export async function requireFreePorts(settings: {
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
}): Promise<void> {
  const { host, port, metricsHost, metricsPort = 0 } = settings;
  if (port !== 0) await listenOrExplain(() => probePort({ host, port }), { host, port });
  const ofMetrics = { host: metricsHost, port: metricsPort };
  if (metricsPort !== 0) await listenOrExplain(() => probePort(ofMetrics), ofMetrics, 'METRICS_PORT');
}

/** Checks that the system supports `SO_REUSEPORT`, before the first worker prepares the database. */
export async function requireReusePort({ host }: { readonly host: string }): Promise<void> {
  const unused = { host, port: 0 };
  await listenOrExplain(() => probePort({ ...unused, reusePort: true }), unused);
}

/** The API root, without a slash at its end. */
export function baseUrl(
  { host, basePath, tlsCertFile }: { host: string; basePath: string; tlsCertFile: string | undefined },
  { port }: Pick<AddressInfo, 'port'>,
): string {
  const isAnywhere = host === '0.0.0.0' || host === '::';
  const shown = isAnywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tlsCertFile ? 'https' : 'http'}://${shown}:${port}${basePath}`;
}
