/** An expected "no": a code from the contract's closed list, a text for people, and a cause that stays private. */

import { refusals, type Problem, type RefusalCode } from '@espalier/contract';

export interface RefusalDetails {
  /** For the log only. */
  cause?: unknown;
  /** The auth token is authentic and has expired. */
  isExpired?: boolean;
  retryAfterSeconds?: number;
  /** The methods that the address takes instead. */
  allow?: readonly string[];
  /** For programs, beside the code: the current version of a folder, the price of a query. */
  facts?: Readonly<Record<string, string | number>>;
  /** Of a node that is not ready: what of all that it needs it has. */
  checks?: Problem['checks'];
  /** Why those that failed did. */
  reasons?: Problem['reasons'];
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly details: Readonly<RefusalDetails>;

  constructor(code: RefusalCode, message: string = `${refusals[code]}.`, details: RefusalDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** For work whose receiver is gone: the client has closed its connection, or has stopped the operation. */
export function abandoned(): Refusal {
  return new Refusal('UNAVAILABLE', 'The client no longer waits for the response.');
}
