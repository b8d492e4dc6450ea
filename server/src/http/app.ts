/** The HTTP layer: a Fastify app with the endpoints of the contract. It translates HTTP requests into calls of the services. */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';
import { createAccessLog, describeFinished, reportToAll } from './access-log.ts';
import { onFinished, TcpConnections } from './tcp-connections.ts';
import { sendError } from './errors.ts';
import { readBytes } from './guards/body-limits.ts';
import { BrokenRequests } from './guards/broken-requests.ts';
import { addGuards } from './guards/guards.ts';
import { defaultTimeouts, serverOptions } from './guards/timeouts.ts';
import { listen, type Listener, type ListenOptions } from './listen.ts';
import { addRequestState, normalizeUrl, requestIds, securityHeaders } from './request-context.ts';
import { addConsole } from './routes/console.ts';
import { addDocumentation } from './routes/documentation.ts';
import { addGraphRoute } from './routes/graphql.ts';
import { addIntrospection, addKeySet } from './routes/token-verification.ts';
import { addProbes, addServiceRoot } from './routes/probes-and-root.ts';
import { addServerMetadata, addStandardServerMetadata } from './routes/server-metadata.ts';
import { addSingleSignOnRoutes } from './routes/single-sign-on.ts';
import { addSecondFactorRoutes } from './routes/second-factors.ts';
import { addTokenRoutes } from './routes/tokens.ts';
import type { AppOptions, BaseServices, HttpServices } from './http-services.ts';
import { LiveConnections } from './live-connections.ts';
import { addGraphSocket, isUpgrade } from './websocket/upgrade.ts';

export interface App {
  readonly server: FastifyInstance['server'];
  listen(options: ListenOptions): Promise<Listener['address']>;
  stop(): Promise<void>;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { log, tracing, tls, settings } = options;
  let listener: Listener | undefined;
  let isStopping = false;
  const base: BaseServices = {
    ...options,
    times: options.httpTimeouts ?? defaultTimeouts,
    report: reportToAll(createAccessLog(log), options.onRequestFinished, tracing?.endRequest),
    nextRequestId: requestIds(),
    isStopping: () => isStopping,
  };
  const brokenRequests = new BrokenRequests(base);
  const app = createFastify(base, brokenRequests);
  tracing?.traceRequests(app);
  const admission = addGuards(app, base, brokenRequests);
  // Every body is read as bytes. The endpoint checks the content type: /logout accepts an empty body of any type.
  app.removeAllContentTypeParsers();
  // '*' also matches JSON, but Fastify finds a parser faster if its content type is listed.
  app.addContentTypeParser(['application/json', '*'], readBytes);
  await addCors(app, settings.corsOrigins);

  const liveConnections = new LiveConnections(base);
  const tcpConnections = new TcpConnections(app.server, tls !== undefined);
  await addRoutes(app, { ...base, brokenRequests, admission, liveConnections });
  await app.ready();
  return {
    server: app.server,
    async listen(listenOptions) {
      listener = await listen(app.server, listenOptions);
      return listener.address;
    },
    async stop() {
      isStopping = true;
      const interruptedCount = await tcpConnections.stop(
        listener,
        liveConnections,
        settings,
        options.stopTimings,
      );
      if (interruptedCount > 0)
        log.warn(
          { requests: interruptedCount },
          'Closed the connections of requests that did not finish within ESPALIER_STOP_SECONDS.',
        );
      await app.close();
    },
  };
}

function createFastify(services: BaseServices, brokenRequests: BrokenRequests): FastifyInstance {
  const { tls, times, report } = services;
  const { basePath, trustProxy } = services.settings;
  const http = { ...serverOptions(times), shouldUpgradeCallback: isUpgrade };
  const headers = securityHeaders(tls !== undefined);
  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(headers);
    if (!report) return;
    request.startedAt = performance.now();
    // If brokenRequests has already refused the request on its socket, the report contains that status.
    onFinished(reply.raw, () => report(brokenRequests.correctReport(describeFinished(reply), request)));
  };
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendError(error, request, reply, services, brokenRequests);
  const app = fastify({
    // Fastify would create a logger for each request. The access log needs none.
    logger: false,
    genReqId: services.nextRequestId,
    rewriteUrl: ({ url = '/' }) => normalizeUrl(url, basePath),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    keepAliveTimeout: times.keepAliveMs,
    // An upper bound only: timeouts.ts refuses slow requests earlier.
    requestTimeout: times.headersMs + 2 * times.maxBodyMs,
    exposeHeadRoutes: false,
    // No route has a schema, so Fastify's schema compilers are not loaded.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Fastify calls this function without running the hooks, for example for a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      begin(request, reply);
      refuse(error, request, reply);
    },
    clientErrorHandler: (error, socket) => brokenRequests.refuse(error, socket),
    ...(tls ? { https: { ...tls, ...http, handshakeTimeout: times.handshakeMs } } : { http }),
  }) as unknown as FastifyInstance;
  addRequestState(app, services.version);
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    done();
  });
  app.setErrorHandler(refuse);
  app.setNotFoundHandler(() => {
    throw new Refusal(
      'NOT_FOUND',
      `This address does not exist. GET ${basePath}/openapi.json lists the endpoints.`,
    );
  });
  return app;
}

async function addCors(app: FastifyInstance, corsOrigins: readonly string[]): Promise<void> {
  if (corsOrigins.length === 0) return;
  const { default: cors } = await import('@fastify/cors');
  await app.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'POST'],
    exposedHeaders: ['token-expired', 'WWW-Authenticate', 'Retry-After', 'Espalier-Version'],
    maxAge: 600,
    strictPreflight: false,
  });
}

async function addRoutes(app: FastifyInstance, services: HttpServices): Promise<void> {
  const routes = [
    addProbes,
    addTokenRoutes,
    addSingleSignOnRoutes,
    addSecondFactorRoutes,
    addKeySet,
    addIntrospection,
    addServerMetadata,
    addGraphRoute,
    addGraphSocket,
  ];
  await app.register(
    (instance, _, done) => {
      for (const addRoute of [...routes, addServiceRoot, addConsole, addDocumentation])
        addRoute(instance, services);
      done();
    },
    { prefix: services.settings.basePath },
  );
  addStandardServerMetadata(app, services);
}

function noCompiler(): never {
  throw new Error('Routes have no schemas: see json-body.ts.');
}
