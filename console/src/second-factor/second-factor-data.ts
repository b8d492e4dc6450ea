/** The second factor of the viewer: its query and its type. */

import type { GraphQueryKey } from '../graph/use-graph.ts';

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Whether the passkey is stored on several devices of the user, for example by a password manager. */
  readonly isSynced: boolean;
}

export interface SecondFactor {
  readonly isEnrolled: boolean;
  /** Whether the server requires a second factor of the viewer. */
  readonly isRequired: boolean;
  readonly hasPassword: boolean;
  /** When the authenticator app was set up, or null. */
  readonly totpSince: string | null;
  readonly recoveryCodesLeft: number;
  readonly passkeys: readonly Passkey[];
  /** The host name at which browsers offer passkeys. Null if the server is not configured for passkeys. */
  readonly passkeyHost: string | null;
}

/** Below `people`, so that changes of users refresh it. */
export const secondFactorKey: GraphQueryKey = ['people', 'secondFactor'];

export const secondFactorDocument = /* GraphQL */ `
  query SecondFactor {
    viewer {
      secondFactor {
        isEnrolled
        isRequired
        hasPassword
        totpSince
        recoveryCodesLeft
        passkeys {
          id
          name
          createdAt
          lastUsedAt
          isSynced
        }
        passkeyHost
      }
    }
  }
`;

export interface SecondFactorResponse {
  readonly viewer: { readonly secondFactor: SecondFactor };
}

/** Completes the message of a change that ends the other sessions of the viewer. */
export function describeEnded(doneText: string, endedSessions: number): string {
  if (endedSessions === 0) return doneText;
  return `${doneText}. ${endedSessions === 1 ? 'Your other session was' : 'Your other sessions were'} revoked.`;
}

/** The effect of removing the last second factor. */
export function describeLastRemoval(hasPassword: boolean): string {
  const text = 'Your recovery codes are deleted.';
  return hasPassword ? `You can then sign in with your password alone. ${text}` : text;
}
