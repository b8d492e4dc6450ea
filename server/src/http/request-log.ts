/** One line for each request that was answered, whichever way it came. */

import type { Logger } from 'pino';

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Never the URL: a query string may hold anything. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
}

export type TellRequest = (request: AnsweredRequest) => void;

/** Undefined if nobody would read it: then there is nothing to find out either. */
export function requestLog(log: Logger): TellRequest | undefined {
  return log.isLevelEnabled('debug') ? (request) => log.debug(request, 'request') : undefined;
}
