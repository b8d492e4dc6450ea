/** Where the service listens, in words: for whoever starts it. */

import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { StartError } from '../start-error.ts';

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
  await listenOrExplain(() => tryPort({ host, port }), { host, port });
  const ofMetrics = { host: metricsHost, port: metricsPort };
  await listenOrExplain(() => tryPort(ofMetrics), ofMetrics, 'METRICS_PORT');
}

async function tryPort({ host, port }: Place): Promise<void> {
  if (port === 0) return;
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
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
