/** Whether those who watch the server can: the port that Prometheus reads, and the collector that takes traces. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { ask, type Answer } from './http-request.ts';
import { answers, placeOf, type Examined } from './check-context.ts';
import { ok, problem, skipped, warning, type Finding, type Findings } from './finding.ts';

const otherPort = 'Stop the other program, or set ESPALIER_METRICS_PORT to another port.';

export async function* checkWatching(examined: Examined): Findings {
  yield await metricsFound(examined);
  yield await collectorFound(examined);
}

async function metricsFound({ clock, server, settings }: Examined): Promise<Finding> {
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return skipped('No metrics are served: ESPALIER_METRICS_PORT is not set.');
  if (port === 0) return skipped('The port of the metrics is chosen at the start.');
  const url = `http://${placeOf(host, port)}/metrics`;
  let answer: Answer;
  try {
    answer = await ask(clock, url);
  } catch (error) {
    if (codeOf((error as Error).cause) !== 'ECONNREFUSED') {
      const taken = await whyNotFree(host, port);
      const why = taken ?? (error as Error).message;
      return problem(`No metrics can be read at ${url}: ${why}.`, otherPort);
    }
    const isServed = await answers(server);
    if (isServed) {
      return warning(
        `A server answers at ${server.url}, and serves no metrics at ${url}.`,
        'Restart it with these settings; or it runs on another machine, and has its metrics there.',
      );
    }
    const why = await whyNotFree(host, port);
    return why === undefined
      ? ok(`The port for metrics is free: ${url}.`)
      : problem(`No metrics can be served at ${url}: ${why}.`, otherPort);
  }
  const version = /^espalier_build_info\{[^}]*version="([^"]+)"/m.exec(answer.body)?.[1];
  return version === undefined
    ? problem(`What answers at ${url} is not Espalier (${answer.status}).`, otherPort)
    : ok(`Metrics of Espalier ${version} can be read at ${url}.`);
}

/** Taken for a moment, and given back. */
async function whyNotFree(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, 'listening');
    probe.close();
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') return 'another program has the port';
    if (code === 'EACCES') return 'this user may not have the port';
    if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`;
    return (error as Error).message;
  }
}

/** Sends an empty export, which every collector accepts. The headers are secret and not displayed. */
async function collectorFound({ clock, settings }: Examined): Promise<Finding> {
  const { tracesUrl: url, tracesHeaders } = settings;
  if (url === undefined) return skipped('No traces are sent: ESPALIER_TRACES_URL is not set.');
  const lost = 'Until then traces are lost, and nothing else is.';
  try {
    const { status } = await ask(clock, url, {
      method: 'POST',
      headers: { ...tracesHeaders, 'content-type': 'application/json' },
      body: '{"resourceSpans":[]}',
      mustBeTrusted: true,
    });
    if (status >= 200 && status < 300) return ok(`The collector at ${url} takes traces.`);
    return status === 401 || status === 403
      ? warning(
          `The collector at ${url} answers with ${status}: it does not know who sends.`,
          `Set ESPALIER_TRACES_HEADERS_FILE to what it wants. ${lost}`,
        )
      : warning(
          `The collector at ${url} answers with ${status}.`,
          `Name the address where it takes OTLP over HTTP, which often ends in /v1/traces. ${lost}`,
        );
  } catch (error) {
    const { message } = error as Error;
    return warning(
      `No collector can be reached at ${url}: ${message}.`,
      `Start it, or set ESPALIER_TRACES_URL to where it is. ${lost}`,
    );
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
