/** Somebody who stays: whether their token and session still hold, and when to tell them that the token will end. */

import type { Clock } from '../../clock.ts';
import type { Viewer } from '../../sessions/viewer.ts';
import { Refusal } from '../../refusal.ts';
import type { Sessions } from '../../sessions/sessions.ts';

interface PresenceServices {
  readonly sessions: Sessions;
  readonly clock: Clock;
}

const warningMs = 60_000;

export class TokenLease {
  readonly viewer: Viewer;
  readonly #services: PresenceServices;
  #warnAt: number;

  constructor(viewer: Viewer, services: PresenceServices) {
    this.viewer = viewer;
    this.#services = services;
    const leftMs = viewer.tokenExpiresAt - services.clock.now();
    this.#warnAt = viewer.tokenExpiresAt - (leftMs < 2 * warningMs ? leftMs / 2 : warningMs);
  }

  /** The token has expired, or its session or user was ended. */
  get isOver(): boolean {
    const { sessions, clock } = this.#services;
    return this.viewer.tokenExpiresAt <= clock.now() || sessions.isEnded(this.viewer);
  }

  /** Why it is over. */
  get refusal(): Refusal {
    const hasExpired = this.viewer.tokenExpiresAt <= this.#services.clock.now();
    const text = hasExpired
      ? 'The auth token has expired.'
      : 'The session of this auth token has been ended.';
    return new Refusal('INVALID_AUTH_TOKEN', text);
  }

  /** True once: a minute before the token ends, or, for a token that was nearly over, at half of what was left. */
  takeWarning(): boolean {
    if (this.#services.clock.now() < this.#warnAt) return false;
    this.#warnAt = Infinity;
    return true;
  }

  /** By another token of the same user. The same one again changes nothing, or it would bring the warning again. */
  renew(viewer: Viewer): TokenLease {
    if (viewer.userId !== this.viewer.userId) throw new Refusal('INVALID_AUTH_TOKEN');
    const next = new TokenLease(viewer, this.#services);
    if (next.isOver) throw new Refusal('INVALID_AUTH_TOKEN');
    return viewer.tokenExpiresAt > this.viewer.tokenExpiresAt ? next : this;
  }
}
