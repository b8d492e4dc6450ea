/**
 * One line for each request that was answered, whichever way it came. It is written by hand, as the logger would write it:
 * that takes a third of the time, and every request pays for it. Never holds an address with its query, a header or a body.
 */

import { endpoints } from '@espalier/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { symbols, type Logger } from 'pino';
import type { OpenSpan } from '../tracer.ts';
import type { Clock } from '../clock.ts';
import type { ReceivedRequest } from './received-request.ts';

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Never the URL: a query string may hold anything. Undefined if there is nothing at that address. */
  readonly route: string | undefined;
  readonly status: number;
  /** Until the answer was handed over, or sent, or nobody waited for it any more. */
  readonly ms: number;
  /** Who asked, as far as that came out. */
  readonly userId: string | undefined;
  /** As the client sent it. */
  readonly traceparent: string | string[] | undefined;
  /** If it is traced here. */
  readonly trace?: OpenSpan | undefined;
  /** If it was refused: why, and from where it came, unless that is gone already. */
  readonly refused?: { readonly code: string; readonly address: string | undefined } | undefined;
  /** Asked every second or two by programs that watch. */
  readonly isProbe?: boolean;
  /** It was answered for as long as somebody listened. */
  readonly isStream?: boolean;
}

export type TellRequest = (request: AnsweredRequest) => void;

/** Not a status that anybody was answered with; several proxies log it, too. */
export const clientLeft = 499;

/** All of them, one after the other; undefined if there is none. */
export function telling(...all: readonly (TellRequest | undefined)[]): TellRequest | undefined {
  const tellers = all.filter((tell) => tell !== undefined);
  if (tellers.length <= 1) return tellers[0];
  return (request) => {
    for (const tell of tellers) tell(request);
  };
}

/** One that went the usual way, in the end. */
export function answered(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
  const { id, method, routeOptions, refusalCode, ip } = request;
  const raw = request.raw as ReceivedRequest;
  const { headersSent, writableFinished } = reply.raw;
  return {
    requestId: id,
    method,
    route: routeOptions.url,
    status: headersSent || writableFinished ? reply.statusCode : clientLeft,
    ms: performance.now() - (raw.startedAt ?? NaN),
    userId: raw.userId,
    traceparent: raw.headers['traceparent'],
    trace: raw.trace,
    refused: refusalCode === null ? undefined : { code: refusalCode, address: ip },
    isStream: String(reply.getHeader('content-type')).startsWith('text/event-stream'),
    isProbe: isProbe(request),
  };
}

export function isProbe({ routeOptions }: FastifyRequest): boolean {
  const { endpoint } = routeOptions.config;
  return endpoint === endpoints.livez || endpoint === endpoints.readyz;
}

/** Where lines of a logger go. */
interface LineStream {
  write(line: string): void;
  /** For a line that can wait for others: to write many at once costs as much as to write one. */
  hold?(line: string): void;
}

/** Undefined if nobody would read it: then there is nothing to find out either. */
export function requestLog(log: Logger, clock: Clock): TellRequest | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  const areProbesTold = log.isLevelEnabled('debug');
  const parts = log as unknown as Readonly<Record<symbol, unknown>>;
  const stream = parts[symbols.streamSym] as LineStream;
  const write = (line: string) => (stream.hold ? stream.hold(line) : stream.write(line));
  const { info, debug } = log.levels.values;
  const afterTime = `${parts[symbols.chindingsSym] as string},"requestId":"`;
  const beginnings = new Beginnings(info!, afterTime);
  const beginningsOfProbes = new Beginnings(debug!, afterTime);
  const middles = new Middles();

  return ({ requestId, method, route, status, ms, userId, traceparent, trace, refused, isProbe }) => {
    if (isProbe && !areProbesTold) return;
    write(
      (isProbe ? beginningsOfProbes : beginnings).at(clock.now()) +
        requestId +
        middles.of(method, route, status) +
        shownMs(ms) +
        (userId === undefined ? '' : `,"userId":"${userId}"`) +
        (trace ? traceField(trace.traceId) : traceparent === undefined ? '' : sentTraceField(traceparent)) +
        (refused ? refusalFields(refused) : '') +
        ',"msg":"request"}\n',
    );
  };
}

/** Of lines of one level: many requests are answered in the same millisecond, and it takes longer to write than to compare. */
class Beginnings {
  readonly #level: number;
  readonly #afterTime: string;
  #last = NaN;
  #text = '';

  constructor(level: number, afterTime: string) {
    this.#level = level;
    this.#afterTime = afterTime;
  }

  at(time: number): string {
    if (time !== this.#last) {
      this.#last = time;
      this.#text = inOnePiece(['{"level":', this.#level, ',"time":', time, this.#afterTime]);
    }
    return this.#text;
  }
}

/** What is added up stays in pieces, which are gone through for every line that it is part of. */
function inOnePiece(parts: readonly (string | number)[]): string {
  return parts.join('');
}

/** Behind the point; none for a whole number. */
const thousandths = Array.from({ length: 1000 }, (_, count) =>
  count === 0 ? '' : `.${String(count).padStart(3, '0')}`,
);

/** To the microsecond: from two whole numbers, which are written much faster than a fraction. */
function shownMs(ms: number): string {
  const microseconds = Math.round(ms * 1000);
  const whole = Math.floor(microseconds / 1000);
  return whole + thousandths[microseconds - whole * 1000]!;
}

/** What is the same in very many lines, by what it says. There are only so many routes, methods and statuses. */
class Middles {
  readonly #known = new Map<string | undefined, Map<string, Map<number, string>>>();

  of(method: string, route: string | undefined, status: number): string {
    return this.#known.get(route)?.get(method)?.get(status) ?? this.#add(method, route, status);
  }

  #add(method: string, route: string | undefined, status: number): string {
    const ofRoute = this.#known.get(route) ?? new Map<string, Map<number, string>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, string>();
    const shownRoute = route === undefined ? '' : `,"route":${JSON.stringify(route)}`;
    const shownMethod = JSON.stringify(method);
    const text = inOnePiece(['","method":', shownMethod, shownRoute, ',"status":', status, ',"ms":']);
    this.#known.set(route, ofRoute.set(method, ofMethod.set(status, text)));
    return text;
  }
}

function refusalFields({ code, address }: NonNullable<AnsweredRequest['refused']>): string {
  return `,"code":"${code}"${address === undefined ? '' : `,"address":${JSON.stringify(address)}`}`;
}

function sentTraceField(header: string | string[]): string {
  const traceId = typeof header === 'string' ? traceIdOf(header) : undefined;
  return traceId === undefined ? '' : traceField(traceId);
}

function traceField(traceId: string): string {
  return `,"traceId":"${traceId}"`;
}

/** Of a header as in https://www.w3.org/TR/trace-context/#traceparent-header; later versions may have more behind it. */
export function traceIdOf(traceparent: string): string | undefined {
  const [, version, traceId, parentId, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  return /^0+$/.test(traceId!) || /^0+$/.test(parentId!) ? undefined : traceId;
}
