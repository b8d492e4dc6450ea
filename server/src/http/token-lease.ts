/**
 * The right of a connection to stay open. The lease ends when the auth token expires or the session ends; a newer token renews
 * it. The lease of a view also ends with the view. Also decides when to warn the client that the token expires soon.
 * `websocket/socket-connection.ts` and `routes/event-stream.ts` check the lease and close the connection.
 */

import { Refusal } from '../refusal.ts';
import { apiKeyTexts } from '../sessions/api-key-verification.ts';
import type { Viewer } from '../sessions/auth-token.ts';
import { viewEnded } from '../sessions/view-as.ts';
import type { HttpServices } from './http-services.ts';

type LeaseServices = Pick<HttpServices, 'sessions' | 'clock'>;

const warningMs = 60_000;
const tokenTexts = {
  expired: 'The auth token has expired.',
  ended: 'The session of this auth token has ended.',
};

export class TokenLease {
  readonly viewer: Viewer;
  readonly #services: LeaseServices;
  #warnAt: number;

  constructor(viewer: Viewer, services: LeaseServices) {
    this.viewer = viewer;
    this.#services = services;
    const leftMs = viewer.tokenExpiresAt - services.clock.now();
    this.#warnAt = viewer.tokenExpiresAt - (leftMs < 2 * warningMs ? leftMs / 2 : warningMs);
  }

  /** The token has expired, its signing key was retired, its session was revoked, or its user was disabled or deleted. */
  get hasEnded(): boolean {
    const { sessions } = this.#services;
    return this.#hasExpired || sessions.isEnded(this.viewer) || sessions.isViewEnded(this.viewer);
  }

  /** Why the lease has ended. */
  get refusal(): Refusal {
    const { sessions } = this.#services;
    if (!this.#hasExpired && !sessions.isEnded(this.viewer)) return viewEnded();
    const { expired, ended } = this.viewer.apiKeyId === undefined ? tokenTexts : apiKeyTexts;
    return new Refusal('INVALID_AUTH_TOKEN', this.#hasExpired ? expired : ended);
  }

  get #hasExpired(): boolean {
    return this.viewer.tokenExpiresAt <= this.#services.clock.now();
  }

  /** True once: a minute before the token expires or, if less than two minutes were left, at half of that time. */
  takeWarning(): boolean {
    if (this.#services.clock.now() < this.#warnAt) return false;
    this.#warnAt = Infinity;
    return true;
  }

  /** Accepts other tokens of the same user and view, or the same API key again. Equal tokens change nothing, otherwise the warning would be sent again. */
  renew(viewer: Viewer): TokenLease {
    const { userId, apiKeyId, view, tokenExpiresAt } = this.viewer;
    if (viewer.userId !== userId || viewer.apiKeyId !== apiKeyId) throw new Refusal('INVALID_AUTH_TOKEN');
    if (viewer.view?.userId !== view?.userId) throw new Refusal('INVALID_VIEW_TOKEN');
    const next = new TokenLease(viewer, this.#services);
    if (next.hasEnded) throw next.refusal;
    const isLater = viewer.tokenExpiresAt > tokenExpiresAt;
    const isLaterView = (viewer.view?.expiresAt ?? 0) > (view?.expiresAt ?? 0);
    return isLater || isLaterView ? next : this;
  }
}
