/**
 * WebSockets at `/graphql` and `/graphql/ws`. Until it is accepted, an upgrade is a request like any other: it goes
 * through the router, and a refusal is an ordinary response.
 */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { closeCodes, endpoints, type Endpoint } from '@espalier/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type ServerOptions } from 'ws';
import { Refusal } from '../../refusal.ts';
import { sendBrokenRequest } from '../errors.ts';
import type { BrokenRequests } from '../guards/broken-requests.ts';
import { optionalBearer } from '../authorization.ts';
import { addEndpoint } from '../routes/endpoint.ts';
import type { LiveServices } from './live-connections.ts';
import { ServerResponse } from '../errors.ts';
import { finishedRequest, type ReportRequest } from '../access-log.ts';
import { SocketConnection } from './connection.ts';
import { protocols } from './protocols.ts';

export interface GraphSocketOptions {
  readonly broken: BrokenRequests;
  readonly report: ReportRequest | undefined;
  readonly corsOrigins: readonly string[];
  readonly maxSubscriptions: number;
}

interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
  /** Set when only the handshake itself can still fail. */
  admitted?: { readonly request: FastifyRequest; readonly reply: FastifyReply };
}

/** The path for sockets only. A request without an upgrade gets 426 (RFC 9110 §15.5.22). */
const socketEndpoint: Endpoint = {
  ...endpoints.graph,
  path: `${endpoints.graph.path}/ws`,
  methods: ['GET'],
  refusalFormat: 'problem',
  refusals: { BAD_INPUT: { status: 426, when: 'No upgrade to a WebSocket' } },
};

const maxFrameBytes = 64 * 1024;
const closeWithinMs = 5_000;

export function addGraphSocket(
  app: FastifyInstance,
  services: LiveServices,
  { broken, report, corsOrigins, maxSubscriptions }: GraphSocketOptions,
): void {
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    autoPong: false,
    closeTimeout: closeWithinMs,
    handleProtocols: (offered) => protocols.find(({ name }) => offered.has(name))?.name ?? false,
  };
  const server = new WebSocketServer(options);

  const upgrades = new WeakMap<IncomingMessage, Upgrade>();
  server.on('wsClientError', (_error, _socket, raw) => {
    const { socket, admitted } = upgrades.get(raw)!;
    const { request, reply } = admitted!;
    sendBrokenRequest(socket, 400, request.id);
    // The timeouts of HTTP no longer apply to this socket.
    socket.destroySoon();
    request.refusalCode = 'BAD_INPUT';
    report?.({ ...finishedRequest(request, reply), status: 400 });
  });

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
      broken.refuse({}, socket);
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

  const open = (request: FastifyRequest, reply: FastifyReply) => {
    if (!isAllowedOrigin(request, corsOrigins)) {
      throw new Refusal('FORBIDDEN', 'Web pages of this origin may not open a socket here.');
    }
    const authToken = optionalBearer(request);
    const viewer = authToken === undefined ? undefined : services.sessions.authenticate(authToken);
    if (viewer) reply.setUser(viewer.userId);
    reply.hijack();
    const upgrade = upgrades.get(request.raw)!;
    const { socket, head } = upgrade;
    upgrade.admitted = { request, reply };
    reply.raw.detachSocket(socket);
    server.handleUpgrade(request.raw, socket, head, (webSocket) => {
      report?.({ ...finishedRequest(request, reply), status: 101 });
      const dialect = protocols.find(({ name }) => name === webSocket.protocol);
      if (!dialect) {
        const { code, reason } = closeCodes.NO_SUB_PROTOCOL;
        webSocket.on('error', () => undefined).close(code, reason);
        return;
      }
      const { id: requestId } = request;
      new SocketConnection(services, { socket: webSocket, dialect, viewer, requestId, maxSubscriptions });
    });
  };

  for (const url of [endpoints.graph.path, socketEndpoint.path]) {
    const config = { endpoint: socketEndpoint };
    app.route({ method: 'GET', url, constraints: { upgrade: 'websocket' }, config, handler: open });
  }
  addEndpoint(app, socketEndpoint, (_, reply) => {
    reply.header('upgrade', 'websocket').header('connection', 'upgrade');
    throw new Refusal(
      'BAD_INPUT',
      `Open a WebSocket here, with the sub-protocol ${protocols[0]!.name}. Without one, use ${endpoints.graph.path}.`,
    );
  });
}

/** Whether a request asks for a WebSocket. Any other upgrade is ignored, as RFC 9110 §7.8 allows. */
export function isUpgrade({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody;
}
/** Passes: no origin at all (no browser), the same host, and what the CORS setting names. */

export function isAllowedOrigin(request: FastifyRequest, corsOrigins: readonly string[]): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return true;
  // Fastify's `host` is that of X-Forwarded-Host if the proxy is trusted.
  return [host, request.host].some((each) => each && isSameHost(origin, each));
}
/** The scheme is not compared: a proxy may have taken off the TLS. */
function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const address = `${protocol}//${host}`;
  return URL.canParse(address) && new URL(address).host === originHost;
}
