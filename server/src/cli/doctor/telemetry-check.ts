/** Checks the metrics port and the trace collector. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { sendRequest, type HttpResponse } from './http-request.ts';
import { responds, formatAddress, type CheckContext } from './check-context.ts';
import { ok, problem, skipped, warning, type Finding, type Findings } from './finding.ts';

const otherPort = 'Stop the other program, or set ESPALIER_METRICS_PORT to another port.';

export async function* checkTelemetry(context: CheckContext): Findings {
  yield await metricsFound(context);
  yield await collectorFound(context);
}

async function metricsFound({ clock, server, settings }: CheckContext): Promise<Finding> {
  const { metricsHost: host, metricsPort: port } = settings;
  if (port === undefined) return skipped('No metrics are served: ESPALIER_METRICS_PORT is not set.');
  if (port === 0) return skipped('The server chooses the metrics port when it starts.');
  const url = `http://${formatAddress(host, port)}/metrics`;
  let response: HttpResponse;
  try {
    response = await sendRequest(clock, url);
  } catch (error) {
    if (codeOf((error as Error).cause) !== 'ECONNREFUSED') {
      const taken = await whyNotFree(host, port);
      const why = taken ?? (error as Error).message;
      return problem(`Cannot read metrics at ${url}: ${why}.`, otherPort);
    }
    const isServed = await responds(server);
    if (isServed) {
      return warning(
        `A server responds at ${server.url} but serves no metrics at ${url}.`,
        'Restart the server with these settings. If it runs on another machine, its metrics are there.',
      );
    }
    const why = await whyNotFree(host, port);
    return why === undefined
      ? ok(`The port for metrics is free: ${url}.`)
      : problem(`Cannot serve metrics at ${url}: ${why}.`, otherPort);
  }
  const version = /^espalier_build_info\{[^}]*version="([^"]+)"/m.exec(response.body)?.[1];
  return version === undefined
    ? problem(`The server at ${url} is not Espalier (status ${response.status}).`, otherPort)
    : ok(`Metrics of Espalier ${version} can be read at ${url}.`);
}

/** Binds the port for a moment. */
async function whyNotFree(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  try {
    probe.listen({ host, port });
    await once(probe, 'listening');
    probe.close();
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') return 'another program uses the port';
    if (code === 'EACCES') return 'this user may not use the port';
    if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine`;
    return (error as Error).message;
  }
}

/** Sends an empty export, which every collector accepts. The headers are secret and not displayed. */
async function collectorFound({ clock, settings }: CheckContext): Promise<Finding> {
  const { tracesUrl: url, tracesHeaders } = settings;
  if (url === undefined) return skipped('No traces are sent: ESPALIER_TRACES_URL is not set.');
  const lost = 'Until then, the server loses traces but works normally.';
  try {
    const { status } = await sendRequest(clock, url, {
      method: 'POST',
      headers: { ...tracesHeaders, 'content-type': 'application/json' },
      body: '{"resourceSpans":[]}',
      mustBeTrusted: true,
    });
    if (status >= 200 && status < 300) return ok(`The collector at ${url} accepts traces.`);
    return status === 401 || status === 403
      ? warning(
          `The collector at ${url} returns ${status}: it requires authentication.`,
          `Set ESPALIER_TRACES_HEADERS_FILE to a file with the required headers. ${lost}`,
        )
      : warning(
          `The collector at ${url} returns ${status}.`,
          `Set ESPALIER_TRACES_URL to its address for OTLP over HTTP, which often ends in /v1/traces. ${lost}`,
        );
  } catch (error) {
    const { message } = error as Error;
    return warning(
      `Cannot reach a collector at ${url}: ${message}.`,
      `Start it, or set ESPALIER_TRACES_URL to its address. ${lost}`,
    );
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
