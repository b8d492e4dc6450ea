/** The HTTP layer: a Fastify app with the endpoints of the contract. It translates requests and responses. */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config/config.ts';
import type { Graph } from '../graph/graph.ts';
import { Activity } from '../observability/activity.ts';
import { canSign, type HealthCheck } from '../observability/health.ts';
import { createOutageLog, type LogOutage } from '../observability/outage-log.ts';
import { Refusal } from '../refusal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SigningKeys } from '../sessions/signing-keys.ts';
import { createAccessLog, finishedRequest, reportToAll, type ReportRequest } from './access-log.ts';
import { onFinished, OpenConnections } from './connections.ts';
import { sendError } from './errors.ts';
import { readBytes } from './guards/body-limits.ts';
import { BrokenRequests } from './guards/broken-requests.ts';
import { addGuards, type GuardOptions } from './guards/guards.ts';
import type { Admission } from './guards/overload.ts';
import { defaultTimeouts, serverOptions, type HttpTimeouts } from './guards/timeouts.ts';
import { listen, type Listening, type ListenOptions, type TlsFiles } from './listen.ts';
import { addRequestState, normalizeUrl, requestIds, securityHeaders } from './request-context.ts';
import type { RequestTracing } from './traced-requests.ts';
import { addConsole } from './routes/console.ts';
import { addGraphRoute } from './routes/graphql.ts';
import { addIntrospection, addKeySet } from './routes/keys.ts';
import { addProbes } from './routes/probes.ts';
import { addServiceRoot } from './routes/service-root.ts';
import { addTokenRoutes } from './routes/tokens.ts';
import { stopListening, type StopSettings, type StopTimings } from './stop.ts';
import { LiveConnections, type LiveTimings, type RemoteConnections } from './websocket/live-connections.ts';
import { addGraphSocket, isUpgrade } from './websocket/upgrade.ts';

export interface AppOptions {
  readonly sessions: Sessions;
  readonly keys: SigningKeys;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Whether the database responds. May be called as often as needed. */
  readonly isReady: () => Promise<boolean>;
  /** Why the database cannot be used, as text that anyone may read. */
  readonly findFault: () => string | undefined;
  /** The state of everything that this node needs. */
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
  /** Called for each request when its response is sent. */
  readonly onRequestFinished?: ReportRequest | undefined;
  /** Undefined if requests are not traced. */
  readonly tracing?: RequestTracing | undefined;
  /** Counts requests, logins and errors. */
  readonly activity?: Activity;
  /** Called for temporary failures, for example of the database. */
  readonly logOutage?: LogOutage;
  /** The folder of the console's built files; null if it has not been built, undefined if it is disabled. */
  readonly consoleFolder?: string | null | undefined;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
  readonly settings: AppSettings;
  /** Connections of users to the other workers of this node. */
  readonly remoteConnections?: RemoteConnections | undefined;
  /** For tests. */
  readonly liveTimings?: LiveTimings;
  readonly stopTimings?: StopTimings;
  readonly httpTimeouts?: HttpTimeouts;
  readonly guardOptions?: Pick<GuardOptions, 'maxConnections' | 'load' | 'admissionLimits'>;
}

/** The base path has no slash at its end. */
type AppSettings = StopSettings &
  Pick<Settings, 'basePath' | 'trustProxy' | 'maxSubscriptions' | 'maxConnections' | 'maxImportFolders'> &
  Partial<Pick<Settings, 'introspectionClient'>> & { readonly corsOrigins: readonly string[] };

export interface App {
  readonly server: FastifyInstance['server'];
  listen(options: ListenOptions): Promise<Listening['address']>;
  stop(): Promise<void>;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { log, clock, tracing, tls, settings, liveTimings, stopTimings, version } = options;
  const services: AppServices = {
    ...options,
    activity: options.activity ?? new Activity(clock),
    logOutage: options.logOutage ?? createOutageLog(log, clock),
    times: options.httpTimeouts ?? defaultTimeouts,
    report: reportToAll(createAccessLog(log), options.onRequestFinished, tracing?.endRequest),
    nextRequestId: requestIds(),
    headers: securityHeaders(tls !== undefined),
  };
  const broken = new BrokenRequests(services);
  const app = createFastify(services, broken);
  addRequestState(app, version);
  app.addHook('onRequest', (request, reply, done) => {
    beginRequest(request, reply, services, broken);
    done();
  });
  tracing?.traceRequests(app);
  const admission = addGuards(app, { ...services, broken, ...options.guardOptions });
  // Every body is read as bytes. The endpoint checks the content type: /logout accepts an empty body of any type.
  app.removeAllContentTypeParsers();
  // The first one by name: for any other type, Fastify searches for a parser.
  for (const mediaType of ['application/json', '*']) {
    app.addContentTypeParser(mediaType, readBytes);
  }
  await addCors(app, settings.corsOrigins);

  const live = new LiveConnections({
    log,
    activity: services.activity,
    maxConnections: settings.maxConnections,
    remote: options.remoteConnections,
    ...(liveTimings && { times: liveTimings }),
  });
  const connections = new OpenConnections(app.server, tls !== undefined);
  let listening: Listening | undefined;
  let isStopping = false;
  await addRoutes(app, services, { broken, admission, live, isStopping: () => isStopping });
  await app.ready();
  return {
    server: app.server,
    async listen(listenOptions) {
      listening = await listen(app.server, listenOptions);
      return listening.address;
    },
    async stop() {
      isStopping = true;
      const times = stopTimings && { times: stopTimings };
      await stopListening(listening, { settings, connections, live, log, ...times });
      await app.close();
    },
  };
}

interface AppServices extends AppOptions {
  readonly activity: Activity;
  readonly logOutage: LogOutage;
  readonly times: HttpTimeouts;
  /** Undefined if requests are neither logged nor counted nor traced. */
  readonly report: ReportRequest | undefined;
  readonly nextRequestId: () => string;
  /** Of every response. */
  readonly headers: Readonly<Record<string, string>>;
}

function createFastify(services: AppServices, broken: BrokenRequests): FastifyInstance {
  const { tls, times, nextRequestId } = services;
  const { basePath, trustProxy } = services.settings;
  const http = { ...serverOptions(times), shouldUpgradeCallback: isUpgrade };
  const errorServices = { ...services, hasRefused: broken.hasRefused.bind(broken) };
  const app = fastify({
    // Fastify would create a logger for each request. The access log needs none.
    logger: false,
    genReqId: nextRequestId,
    rewriteUrl: ({ url = '/' }) => normalizeUrl(url, basePath),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    keepAliveTimeout: times.keepAliveMs,
    // An upper bound only: timeouts.ts refuses slow requests earlier.
    requestTimeout: times.headersMs + 2 * times.maxBodyMs,
    exposeHeadRoutes: false,
    // No route has a schema, so Fastify's schema compilers are not loaded.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Called without any hook, for example for a URL that cannot be decoded.
    frameworkErrors(error, request, reply) {
      beginRequest(request, reply, services, broken);
      sendError(error, request, reply, errorServices);
    },
    clientErrorHandler: (error, socket) => broken.refuse(error, socket),
    ...(tls ? { https: { ...tls, ...http, handshakeTimeout: times.handshakeMs } } : { http }),
  }) as unknown as FastifyInstance;
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, errorServices));
  app.setNotFoundHandler(() => {
    throw new Refusal(
      'NOT_FOUND',
      `There is nothing at this address. GET ${basePath}/openapi.json lists what there is.`,
    );
  });
  return app;
}

/** Sets the headers of every response, and reports the request when it is finished. */
function beginRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { report, headers }: AppServices,
  broken: BrokenRequests,
): void {
  reply.headers(headers);
  if (!report) return;
  request.startedAt = performance.now();
  onFinished(reply.raw, () =>
    report(broken.correct(finishedRequest(request, reply), request.raw, request.ip)),
  );
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

interface RouteServices {
  readonly broken: BrokenRequests;
  readonly admission: Admission;
  readonly live: LiveConnections;
  readonly isStopping: () => boolean;
}

async function addRoutes(
  app: FastifyInstance,
  services: AppServices,
  { broken, admission, live, isStopping }: RouteServices,
): Promise<void> {
  const { sessions, keys, settings, consoleFolder, version, report, times } = services;
  const { basePath } = settings;
  const graphServices = { ...services, connections: live, admission };
  await app.register(
    (routes, _, done) => {
      addProbes(routes, { ...services, isStopping, canSign: () => canSign(keys) });
      addTokenRoutes(routes, sessions, { ...services, admission });
      addKeySet(routes, keys);
      addIntrospection(routes, sessions, settings.introspectionClient);
      addGraphRoute(routes, graphServices, { ...settings, times });
      addGraphSocket(routes, graphServices, { ...settings, broken, report });
      addServiceRoot(routes, { basePath, version, hasConsole: typeof consoleFolder === 'string' });
      if (consoleFolder !== undefined) addConsole(routes, { folder: consoleFolder, basePath });
      done();
    },
    { prefix: basePath },
  );
}

function noCompiler(): never {
  throw new Error('Routes have no schemas: see json-body.ts.');
}
