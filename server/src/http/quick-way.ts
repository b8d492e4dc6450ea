/**
 * The quick way of a short JSON body to its answer: past Fastify, which has nothing to do for it. Never gives another
 * answer than the usual way: whatever is out of the ordinary goes that one, and whatever fails is answered there.
 */

import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { Endpoint } from '@espalier/contract';
import type { Activity } from '../activity.ts';
import { isPromise } from '../database/database.ts';
import type { Viewer } from '../graph/viewer.ts';
import type { Tracer } from '../tracer.ts';
import type { Answer, AnswerTo, Asked } from './endpoint-answer.ts';
import { smallBodyBytes } from './pressure.ts';
import { takeIn } from './request-head.ts';
import type { BodyTaker, ReceivedRequest } from './received-request.ts';
import { clientLeft, type TellRequest } from './request-log.ts';
import { beginTrace } from './request-trace.ts';
import { addHeaderLines } from './secured-response.ts';

export interface QuickWayOptions {
  readonly activity: Activity;
  readonly nextRequestId: () => string;
  /** Undefined if nobody wants to know of each request. */
  readonly tell: TellRequest | undefined;
  /** Undefined if nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export interface QuickEndpoint {
  /** Whether these headers ask for nothing but an answer; without it, all do. */
  readonly takes?: (headers: IncomingHttpHeaders) => boolean;
  /** Before the body is read: who asks, null if nobody wants to know. Refuses by throwing. */
  readonly admit?: (request: IncomingMessage) => Viewer | null;
  readonly answerTo: AnswerTo;
}

interface Route extends QuickEndpoint {
  readonly url: string;
  readonly mostBytes: number;
}

export class QuickWay {
  readonly #routes: Route[] = [];
  readonly #failures = new WeakMap<IncomingMessage, NonNullable<unknown>>();
  readonly #options: QuickWayOptions;
  readonly #goUsually: RequestListener;

  /** Stands before who listens to the server now: Fastify, and nobody else yet. Its requests must be such as can be taken. */
  constructor(server: Server, options: QuickWayOptions) {
    const [goUsually, ...others] = server.listeners('request') as RequestListener[];
    if (!goUsually || others.length > 0) throw new Error('Only Fastify may listen for requests yet.');
    this.#options = options;
    this.#goUsually = goUsually;
    server.removeAllListeners('request');
    server.on('request', (request, response) => this.#take(request as ReceivedRequest, response));
  }

  /** `prefix` is what stands before the endpoint's path. */
  add(prefix: string, { path, request }: Endpoint, endpoint: QuickEndpoint): void {
    const mostBytes = Math.min(smallBodyBytes, request?.limitBytes ?? 0);
    this.#routes.push({ ...endpoint, url: prefix + path, mostBytes });
  }

  /** Whether it comes the usual way only to be answered. */
  hasFailed(request: IncomingMessage): boolean {
    return this.#failures.has(request);
  }

  /** For the first of all that is done on the usual way: there, what failed here is answered and not done again. */
  throwFailure(request: IncomingMessage): void {
    const failure = this.#failures.get(request);
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    if (failure) throw failure;
  }

  #take(request: ReceivedRequest, response: ServerResponse): void {
    const route = request.method === 'POST' ? this.#routeFor(request.url) : undefined;
    if (route === undefined || !isForUs(request, route)) {
      this.#goUsually(request, response);
      return;
    }
    const exchange = new Exchange(this, route, request, response);
    if (this.#options.tell) request.startedAt = performance.now();
    if (this.#options.tracer) beginTrace(this.#options.tracer, request);
    try {
      takeIn(request, this.#options.activity);
      if (route.admit) exchange.viewer = route.admit(request);
    } catch (error) {
      this.fail(exchange, error);
      return;
    }
    request.takeBody(exchange);
  }

  /** There are few: to compare is quicker than to look one up by a text that is new each time. */
  #routeFor(url: string | undefined): Route | undefined {
    for (const route of this.#routes) if (route.url === url) return route;
    return undefined;
  }

  answer(exchange: Exchange): void {
    try {
      const { raw, route, response } = exchange;
      // Hardly any is traced: the others need no function of their own.
      const answer = raw.trace
        ? raw.trace.run(() => route.answerTo(exchange, response))
        : route.answerTo(exchange, response);
      if (isPromise(answer)) this.#answerLater(exchange, answer);
      else this.#send(exchange, answer);
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  #answerLater(exchange: Exchange, answer: Promise<Answer>): void {
    answer.then((given) => this.#send(exchange, given)).catch((error: unknown) => this.fail(exchange, error));
  }

  fail(exchange: Exchange, error: unknown): void {
    const { raw, response } = exchange;
    exchange.forgetBody();
    // To Fastify, nothing that was thrown would be no failure.
    const thrown = error || new Error('Something failed and did not say why.');
    this.#failures.set(raw, thrown);
    this.#goUsually(raw, response);
  }

  #send(exchange: Exchange, answer: Answer): void {
    sendQuickly(exchange.response, answer);
    exchange.forgetBody();
    if (this.#options.tell) this.#tellOf(exchange, answer, this.#options.tell);
  }

  #tellOf({ raw, route }: Exchange, { status }: Answer, tell: TellRequest): void {
    tell({
      requestId: this.#options.nextRequestId(),
      method: 'POST',
      route: route.url,
      status: raw.socket.destroyed ? clientLeft : status,
      ms: performance.now() - raw.startedAt!,
      userId: raw.userId,
      traceparent: raw.headers['traceparent'],
      trace: raw.trace,
    });
  }
}

class Exchange implements Asked, BodyTaker {
  readonly way: QuickWay;
  readonly route: Route;
  readonly raw: ReceivedRequest;
  readonly response: ServerResponse;
  readonly headers: IncomingHttpHeaders;
  viewer: Viewer | null = null;
  body: Buffer | undefined = undefined;
  /** If it comes in several. */
  chunks: Buffer[] | undefined = undefined;

  constructor(way: QuickWay, route: Route, raw: ReceivedRequest, response: ServerResponse) {
    this.way = way;
    this.route = route;
    this.raw = raw;
    this.response = response;
    this.headers = raw.headers;
  }

  takeChunk(chunk: Buffer): void {
    if (this.body === undefined) this.body = chunk;
    else if (this.chunks === undefined) this.chunks = [this.body, chunk];
    else this.chunks.push(chunk);
  }

  takeEnd(): void {
    if (this.chunks) this.body = Buffer.concat(this.chunks);
    this.way.answer(this);
  }

  /** Who hangs up while the answer is made is told nothing. */
  takeError(error: Error): void {
    // The status is Fastify's mark of a body that broke off.
    if (!this.raw.isRead) this.way.fail(this, Object.assign(error, { statusCode: 400 }));
  }

  /** A connection that waits for its next request holds the last one. */
  forgetBody(): void {
    this.body = undefined;
    this.chunks = undefined;
  }
}

/** To a client of HTTP/1.0, Node does not say how long an answer is unless it is told. */
function isForUs({ headers, httpVersionMinor }: IncomingMessage, { mostBytes, takes }: Route): boolean {
  return httpVersionMinor === 1 && isShortJson(headers, mostBytes) && (takes === undefined || takes(headers));
}

/** Node sees to it that no more comes than was announced. */
function isShortJson(headers: IncomingHttpHeaders, mostBytes: number): boolean {
  const mediaType = headers['content-type'];
  if (mediaType !== 'application/json' && mediaType !== 'application/json; charset=utf-8') return false;
  const bytes = Number(headers['content-length'] ?? 0);
  return bytes > 0 && bytes <= mostBytes && headers['transfer-encoding'] === undefined;
}

/** Node itself says how long it is: to be told costs it more than to count. */
function sendQuickly(response: ServerResponse, { status, head, text }: Answer): void {
  response.statusCode = status;
  addHeaderLines(response, head.lines);
  if (text === undefined) response.end();
  // Text of ASCII only is the same bytes either way, and this way it is not looked through again.
  else response.end(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8');
}
