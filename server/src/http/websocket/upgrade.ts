/** Upgrades requests at `/graphql` and `/graphql/ws` to WebSockets. A refused upgrade gets an ordinary response. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { closeCodes, endpoints, type Endpoint } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import { whenDone } from '../../concurrency/promise-or-value.ts';
import { Refusal } from '../../refusal.ts';
import type { Viewer } from '../../sessions/auth-token.ts';
import { describeFinished } from '../access-log.ts';
import { clientAddress, optionalBearer, viewTokenOf } from '../request-context.ts';
import { sendBrokenRequest, ServerResponse } from '../errors.ts';
import type { BrokenRequests } from '../guards/broken-requests.ts';
import { addEndpoint } from '../routes/endpoint.ts';
import { hasBody } from '../tcp-connections.ts';
import type { HttpServices } from '../http-services.ts';
import { SocketConnection, type SocketOptions } from './socket-connection.ts';
import { protocols } from './protocols.ts';

interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
  /** Set when only the handshake itself can still fail. */
  reply?: FastifyReply;
}

/** The path for sockets only. A request without an upgrade gets 426 (RFC 9110 §15.5.22). */
const socketEndpoint: Endpoint = {
  ...endpoints.graph,
  path: `${endpoints.graph.path}/ws`,
  methods: ['GET'],
  refusalFormat: 'problem',
  refusals: { BAD_INPUT: { status: 426, when: 'No upgrade to a WebSocket' } },
};

const serverOptions: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  maxPayload: 64 * 1024,
  perMessageDeflate: false,
  autoPong: false,
  closeTimeout: 5_000,
  handleProtocols: (offered) => protocols.find(({ name }) => offered.has(name))?.name ?? false,
};

export function addGraphSocket(app: FastifyInstance, services: HttpServices): void {
  const { brokenRequests, report } = services;
  const { corsOrigins } = services.settings;
  const server = new WebSocketServer(serverOptions);
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  server.on('wsClientError', (_error, _socket, raw) => {
    const { socket, ...upgrade } = upgrades.get(raw)!;
    const reply = upgrade.reply!;
    sendBrokenRequest(socket, 400, reply.request.id);
    // The timeouts of HTTP no longer apply to this socket.
    socket.destroySoon();
    reply.request.refusalCode = 'BAD_INPUT';
    report?.({ ...describeFinished(reply), status: 400 });
  });
  routeUpgrades(app, upgrades, brokenRequests);

  const upgrade = (request: FastifyRequest, reply: FastifyReply) => {
    if (!isAllowedOrigin(request, corsOrigins)) {
      throw new Refusal(
        'FORBIDDEN',
        'Pages of this origin may not open a WebSocket. Add the origin to ESPALIER_CORS_ORIGINS.',
      );
    }
    const authToken = optionalBearer(request);
    const viewToken = viewTokenOf(request);
    const address = clientAddress(request);
    const open = (viewer: Viewer | undefined) => {
      if (viewer) reply.setUser(viewer.userId);
      reply.hijack();
      const upgradeState = upgrades.get(request.raw)!;
      const { socket, head } = upgradeState;
      // The client may have disconnected while its API key was read.
      if (socket.destroyed) return;
      upgradeState.reply = reply;
      reply.raw.detachSocket(socket);
      server.handleUpgrade(request.raw, socket, head, (webSocket) => {
        report?.({ ...describeFinished(reply), status: 101 });
        connect(services, webSocket, { authToken, viewToken, address, requestId: request.id });
      });
    };
    if (authToken === undefined) return open(undefined);
    // Refused here, while the client can still receive a response.
    const viewer = services.sessions.authenticateRequest(authToken, { viewToken, address: () => address });
    return whenDone(viewer, open);
  };

  for (const url of [endpoints.graph.path, socketEndpoint.path]) {
    const config = { endpoint: socketEndpoint };
    app.route({ method: 'GET', url, constraints: { upgrade: 'websocket' }, config, handler: upgrade });
  }
  addEndpoint(app, socketEndpoint, (_, reply) => {
    reply.header('upgrade', 'websocket').header('connection', 'upgrade');
    throw new Refusal(
      'BAD_INPUT',
      `This address accepts only WebSockets, with the sub-protocol ${protocols[0]!.name}. For HTTP requests, use ${endpoints.graph.path}.`,
    );
  });
}

/** Passes upgrades to the router, with a constraint that distinguishes them from requests to the same path. */
function routeUpgrades(
  app: FastifyInstance,
  upgrades: WeakMap<IncomingMessage, Upgrade>,
  brokenRequests: BrokenRequests,
): void {
  app.addConstraintStrategy({
    name: 'upgrade',
    storage: () => {
      const handlers = new Map<unknown, never>();
      return {
        get: (upgrade: unknown) => handlers.get(upgrade) ?? null,
        set: (upgrade: unknown, handler: unknown) => void handlers.set(upgrade, handler as never),
      };
    },
    deriveConstraint: (request: IncomingMessage) =>
      request.headers.upgrade !== undefined && upgrades.has(request) ? 'websocket' : undefined,
  });

  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    // Node before 24.9 ignores `shouldUpgradeCallback` and emits this event for every upgrade.
    if (!isUpgrade(request)) {
      brokenRequests.refuse({}, socket);
      socket.destroySoon();
      return;
    }
    upgrades.set(request, { socket, head });
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    try {
      response.assignSocket(socket);
    } catch {
      // An earlier request of this connection has no response yet. No honest client pipelines an upgrade.
      socket.destroy();
      return;
    }
    response.on('finish', () => socket.destroySoon());
    app.routing(request, response);
  });
}

function connect(
  services: HttpServices,
  socket: WebSocket,
  options: Omit<SocketOptions, 'socket' | 'protocol'>,
): void {
  const protocol = protocols.find(({ name }) => name === socket.protocol);
  if (!protocol) {
    const { code, reason } = closeCodes.NO_SUB_PROTOCOL;
    socket.on('error', () => undefined).close(code, reason);
    return;
  }
  new SocketConnection(services, { ...options, socket, protocol });
}

/** Whether a request is an upgrade to a WebSocket. Any other upgrade is ignored, as RFC 9110 §7.8 allows. */
export function isUpgrade(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request);
}

/**
 * Browsers send the origin of the page that opens a socket, and check nothing themselves. Allows requests without an origin
 * (not from a browser), from the same host, and from the origins of the CORS setting.
 */
function isAllowedOrigin(request: FastifyRequest, corsOrigins: readonly string[]): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return true;
  // Behind a trusted proxy, Fastify's `host` is X-Forwarded-Host.
  return [host, request.host].some((each) => each && isSameHost(origin, each));
}

/** Does not compare the scheme, because a proxy may terminate TLS. */
function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const address = `${protocol}//${host}`;
  return URL.canParse(address) && new URL(address).host === originHost;
}
