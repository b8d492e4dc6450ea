/** The HTTP side of the service: a Fastify app with the endpoints of the contract, and nothing of what they do. */

import { randomBytes } from 'node:crypto';
import { openApiDocument } from '@espalier/contract';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Activity } from '../activity.ts';
import type { Clock } from '../clock.ts';
import type { Graph } from '../graph/graph.ts';
import { canSign, type HealthCheck } from '../health.ts';
import { Refusal } from '../refusal.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SigningKeys } from '../sessions/signing-keys.ts';
import type { Tracer } from '../tracer.ts';
import { createTroubleLog, type NoteTrouble } from '../trouble-log.ts';
import { answerError } from './answers.ts';
import { asTold, BrokenRequests } from './broken-requests.ts';
import { addConsole } from './console-route.ts';
import { refuseOtherMethods } from './endpoint-route.ts';
import { addGraphRoute } from './graph-route.ts';
import { addGraphSocket, isUpgrade } from './graph-socket.ts';
import { guard, type GuardOptions } from './http-guard.ts';
import { serverOptions, usualTimes, type HttpTimes } from './http-times.ts';
import { addIntrospection } from './introspection.ts';
import { addKeySet } from './key-set.ts';
import { listen, type Listening } from './listening.ts';
import { LiveConnections, type ConnectionsElsewhere, type LiveTimes } from './live-connections.ts';
import { OpenConnections } from './open-connections.ts';
import { addProbes } from './probes.ts';
import { QuickWay } from './quick-way.ts';
import { ReceivedRequest } from './received-request.ts';
import { answered, requestLog, telling, type TellRequest } from './request-log.ts';
import { endTrace, traceRequests } from './request-trace.ts';
import { securedResponse } from './secured-response.ts';
import { addServiceRoot } from './service-root.ts';
import { stopListening, type StopSettings, type StopTimes } from './stop.ts';
import type { TlsFiles } from './tls-files.ts';
import { addTokenRoutes } from './token-routes.ts';

export interface AppOptions {
  readonly sessions: Sessions;
  readonly keys: SigningKeys;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Whether what requests need answers. May be asked as often as anybody likes. */
  readonly isReady: () => Promise<boolean>;
  /** Why the database cannot be relied on, in words for anyone. */
  readonly findFault: () => string | undefined;
  /** What there is to say of each thing that this node needs. */
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
  /** Told of each request when it has been answered. */
  readonly onAnswered?: TellRequest | undefined;
  /** Without it, nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Counts what is done here; without it, nobody asks. */
  readonly activity?: Activity;
  /** Told of what stands in the way of requests and may pass. */
  readonly noteTrouble?: NoteTrouble;
  /** Where the built files of the console are; null if it has not been built, undefined if it is not to be served. */
  readonly consoleFolder?: string | null | undefined;
  /** For https; without it, plain http. */
  readonly tls: TlsFiles | undefined;
  readonly settings: StopSettings & {
    /** Without a slash at its end. */
    readonly basePath: string;
    readonly trustProxy: boolean | number | string[];
    readonly corsOrigins: readonly string[];
    readonly introspectionClient?: string | undefined;
    readonly maxSubscriptions: number;
    readonly maxConnections: number;
    readonly maxImportFolders: number;
  };
  /** Of users with the other workers of this node. */
  readonly elsewhere?: ConnectionsElsewhere | undefined;
  /** For tests that cannot wait. */
  readonly liveTimes?: LiveTimes;
  readonly stopTimes?: StopTimes;
  readonly httpTimes?: HttpTimes;
  /** For tests that cannot bring a crowd. */
  readonly crowd?: Pick<GuardOptions, 'mostConnections' | 'load' | 'pressureLimits'>;
}

export interface App {
  readonly server: FastifyInstance['server'];
  /** On a port of its own, unless connections come from somewhere else. */
  listen(at: { host: string; port: number }, how?: typeof listen): Promise<Listening['address']>;
  stop(): Promise<void>;
}

export async function createApp({
  sessions,
  keys,
  graph,
  clock,
  log,
  version,
  isReady,
  findFault,
  checkHealth,
  onAnswered,
  tracer,
  activity = new Activity(clock),
  noteTrouble = createTroubleLog(log, clock),
  consoleFolder,
  tls,
  settings,
  elsewhere,
  liveTimes,
  httpTimes: times = usualTimes,
  stopTimes,
  crowd,
}: AppOptions): Promise<App> {
  const { basePath, trustProxy, corsOrigins, maxConnections } = settings;
  const nextRequestId = requestIds();
  const tell = telling(requestLog(log, clock), onAnswered, tracer && endTrace);
  const tellWhenOver = (request: FastifyRequest, reply: FastifyReply) => {
    if (!tell) return;
    const raw = request.raw as ReceivedRequest;
    // It may have come the quick way before.
    raw.startedAt ??= performance.now();
    const tellNow = () => tell(asTold(answered(request, reply), raw, request.ip));
    // Who has hung up before it failed the quick way is refused all the same.
    if (reply.raw.closed) setImmediate(tellNow);
    else reply.raw.once('close', tellNow);
  };
  const broken = new BrokenRequests({ nextRequestId, tell });
  const Response = securedResponse(tls !== undefined, version);
  const http = {
    ...serverOptions(times),
    IncomingMessage: ReceivedRequest,
    ServerResponse: Response,
    shouldUpgradeCallback: isUpgrade,
  };
  const app = fastify({
    // Fastify's own logging makes a logger for each request; ours costs nothing until there is something to say.
    logger: false,
    genReqId: nextRequestId,
    rewriteUrl: ({ url = '/' }) => withBasePath(foldSlashes(pathOf(url)), basePath),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    keepAliveTimeout: times.keepAliveMs,
    // Only a bound for what slow-bodies.ts would have let pass.
    requestTimeout: times.headersMs + 2 * times.longestBodyMs,
    exposeHeadRoutes: false,
    // No route has a schema of Fastify's: what would compile them is not even loaded.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    frameworkErrors(error, request, reply) {
      tellWhenOver(request, reply);
      answerError(error, request, reply, { log, activity, noteTrouble });
    },
    clientErrorHandler: (error, socket) => broken.refuse(error, socket),
    ...(tls ? { https: { ...tls, ...http, handshakeTimeout: times.handshakeMs } } : { http }),
  }) as unknown as FastifyInstance;

  // For browsers of other origins, each answer is given headers by a hook of Fastify's: then all go the usual way.
  const quickWay =
    corsOrigins.length > 0 ? undefined : new QuickWay(app.server, { activity, nextRequestId, tell, tracer });

  app.decorateRequest('refusalCode', null);
  app.addHook('onRequest', (request, reply, done) => {
    tellWhenOver(request, reply);
    done();
  });
  if (tracer) traceRequests(app, tracer, (request) => quickWay?.hasFailed(request) ?? false);
  app.setErrorHandler((error, request, reply) =>
    answerError(error, request, reply, { log, activity, noteTrouble }),
  );
  app.setNotFoundHandler(() => {
    throw new Refusal(
      'NOT_FOUND',
      `There is nothing at this address. GET ${basePath}/openapi.json lists what there is.`,
    );
  });
  const pressure = guard(app, { times, log, activity, broken, quickWay, ...crowd });

  // Every body arrives as bytes and is judged where the endpoint says so: /logout takes an empty one of any type.
  app.removeAllContentTypeParsers();
  // The usual one by its name: for each other, Fastify looks anew for who takes it.
  for (const mediaType of ['application/json', '*']) {
    app.addContentTypeParser(mediaType, { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  }

  if (corsOrigins.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    await app.register(cors, {
      origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
      methods: ['GET', 'POST'],
      exposedHeaders: ['token-expired', 'WWW-Authenticate', 'Retry-After', 'Espalier-Version'],
      maxAge: 600,
      strictPreflight: false,
    });
  }

  const live = new LiveConnections({
    log,
    activity,
    maxConnections,
    elsewhere,
    ...(liveTimes && { times: liveTimes }),
  });
  const connections = new OpenConnections(app.server, tls !== undefined);
  let listening: Listening | undefined;
  let isStopping = false;

  await app.register(
    (routes, _, done) => {
      const services = { graph, sessions, clock, log, connections: live, pressure, tracer };
      // The same bytes for everybody, however many do not read them.
      const document = Buffer.from(JSON.stringify(openApiDocument({ url: basePath || '/', version })));
      addProbes(routes, {
        isReady,
        findFault,
        isStopping: () => isStopping,
        canSign: () => canSign(keys),
        checkHealth,
      });
      addTokenRoutes(routes, sessions, {
        pressure,
        activity,
        quickWay,
        trustsProxy: Array.isArray(trustProxy) ? trustProxy.length > 0 : Boolean(trustProxy),
      });
      addKeySet(routes, keys);
      addIntrospection(routes, sessions, settings.introspectionClient);
      addGraphRoute(routes, services, { pressure, times, quickWay, ...settings });
      addGraphSocket(routes, services, { broken, Response, tell, ...settings });
      routes.get('/openapi.json', { exposeHeadRoute: true }, (_request, reply) =>
        reply.header('content-type', 'application/json; charset=utf-8').send(document),
      );
      refuseOtherMethods(routes, { url: '/openapi.json' }, ['HEAD', 'GET']);
      addServiceRoot(routes, { basePath, hasConsole: typeof consoleFolder === 'string' });
      if (consoleFolder !== undefined) addConsole(routes, { folder: consoleFolder, basePath });
      done();
    },
    { prefix: basePath },
  );
  await app.ready();
  return {
    server: app.server,
    async listen(at, how = listen) {
      listening = await how(app.server, at);
      return listening.address;
    },
    async stop() {
      isStopping = true;
      const times = stopTimes && { times: stopTimes };
      await stopListening(listening, { settings, connections, live, log, ...times });
      await app.close();
    },
  };
}

function noCompiler(): never {
  throw new Error('Bodies are judged and written without schemas: see json-body.ts.');
}

/** A proxy may send the whole address (RFC 9112 §3.2.2). */
function pathOf(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
}

/** Contract §4 rule 4: clients may double a slash. Only the path is folded, never the query. */
function foldSlashes(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') + url.slice(path.length) : url;
}

/** The base path matches in any letter case: `/Api/login` is `/api/login`. */
function withBasePath(url: string, basePath: string): string {
  const start = url.slice(0, basePath.length);
  const isOtherCase = start !== basePath && start.toLowerCase() === basePath.toLowerCase();
  return isOtherCase ? basePath + url.slice(basePath.length) : url;
}

/** Unique across processes, and cheap: only one of many has to be written anew. */
function requestIds(): () => string {
  const prefix = randomBytes(6).toString('base64url');
  const endings = Array.from({ length: 36 ** 2 }, (_, count) => count.toString(36).padStart(2, '0'));
  let round = 0;
  let place = 0;
  let beginning = `${prefix}-0`;
  return () => {
    if (++place === endings.length) {
      place = 0;
      beginning = `${prefix}-${(++round).toString(36)}`;
    }
    return beginning + endings[place]!;
  };
}
