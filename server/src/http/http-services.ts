/** The options of the HTTP layer, and the services that its routes and connections share. */

import type { Clock } from '../clock.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Graph } from '../graph/graph.ts';
import type { HealthCheck } from '../observability/health.ts';
import type { LogOutage } from '../observability/outage-log.ts';
import type { LoginEnrolments } from '../sessions/second-factors/login-enrolment.ts';
import type { PasskeyLogin } from '../sessions/second-factors/passkey-login.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SigningKeys } from '../sessions/signing-keys.ts';
import type { SingleSignOn } from '../sessions/single-sign-on/single-sign-on.ts';
import type { ReportRequest } from './access-log.ts';
import type { BrokenRequests } from './guards/broken-requests.ts';
import type { Admission, AdmissionLimits, Load } from './guards/overload.ts';
import type { HttpTimeouts } from './guards/timeouts.ts';
import type { TlsFiles } from '../config/tls-files.ts';
import type { StopTimings } from './tcp-connections.ts';
import type { RequestTracing } from './traced-requests.ts';
import type { LiveConnections, LiveOptions } from './live-connections.ts';

export interface AppOptions extends LiveOptions {
  readonly sessions: Sessions;
  /** Undefined if single sign-on is not configured. */
  readonly singleSignOn?: SingleSignOn | undefined;
  readonly loginEnrolments: LoginEnrolments;
  readonly passkeyLogin: PasskeyLogin;
  readonly keys: SigningKeys;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly version: string;
  /** Whether the database responds. May be called as often as needed. */
  readonly isReady: () => Promise<boolean>;
  /** The reason why the database cannot be used, without confidential details. Undefined if the database just does not respond. */
  readonly findFault: () => string | undefined;
  /** The state of everything that this node needs. */
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
  /** Called for each request when its response is sent. */
  readonly onRequestFinished?: ReportRequest | undefined;
  /** Undefined if requests are not traced. */
  readonly tracing?: RequestTracing | undefined;
  /** Called for temporary failures, for example of the database. */
  readonly logOutage: LogOutage;
  /** The folder of the console's built files; null if it has not been built, undefined if it is disabled. */
  readonly consoleFolder?: string | null | undefined;
  /** The folder of the built documentation site; undefined if it has not been built. */
  readonly documentationFolder?: string | undefined;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles;
  readonly settings: Settings;
  /** For tests. */
  readonly stopTimings?: StopTimings;
  readonly httpTimeouts?: HttpTimeouts;
  readonly guardOptions?: { maxConnections?: number; load?: Load; admissionLimits?: AdmissionLimits };
}

/** Available before the guards and connections are set up. */
export interface BaseServices extends AppOptions {
  readonly times: HttpTimeouts;
  /** Undefined if requests are neither logged nor counted nor traced. */
  readonly report: ReportRequest | undefined;
  readonly nextRequestId: () => string;
  readonly isStopping: () => boolean;
}

export interface HttpServices extends BaseServices {
  readonly brokenRequests: BrokenRequests;
  readonly admission: Admission;
  readonly liveConnections: LiveConnections;
}
