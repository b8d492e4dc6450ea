/** An expected error: a code from the closed list of the contract, a text for people, and a cause for the log only. */

import { refusals, type Problem, type RefusalCode } from '@espalier/contract';

interface RefusalDetails {
  /** For the log only. */
  cause?: unknown;
  /** The auth token is authentic and has expired. */
  isExpired?: boolean;
  retryAfterSeconds?: number;
  /** The methods that the address accepts. */
  allow?: readonly string[];
  /** Further values for programs, for example the current version of a folder or the cost of a query. */
  facts?: Readonly<Record<string, string | number>>;
  /** The methods with which the user can complete the login. */
  methods?: Problem['methods'];
  /** A secret, only for the client. */
  enrolmentToken?: string;
  /** The results of the health checks of a node that is not ready. */
  checks?: Problem['checks'];
  /** The reasons of the failed checks. */
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

export function tooManyLogins(): Refusal {
  const message = 'Too many logins at once. Try again in a moment.';
  return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: 5 });
}

/** The error of work for a client that no longer waits: its connection is closed, or it stopped the operation. */
export function clientGone(): Refusal {
  return new Refusal('UNAVAILABLE', 'The client no longer waits for the response.');
}
