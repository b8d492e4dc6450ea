/** Uses and creates passkeys. The library is loaded when a passkey is needed, so that the first load of the console stays small. */

import { EspalierError, type PasskeyAnswer } from '@espalier/client';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { ActionFailure, describeProblem } from '../graph/problem.ts';
import { client } from '../session/client.ts';

/** Browsers offer passkeys only to pages with https and to localhost, and never to a page with an IP address. */
export const supportsPasskeys =
  typeof PublicKeyCredential === 'function' && !/^[\d.]+$|^\[/.test(location.hostname);

/** Asks the user for a passkey, which signs in or confirms an action. */
export async function askForPasskey(): Promise<PasskeyAnswer> {
  const [{ challengeId, options }, { startAuthentication }] = await Promise.all([
    client.startPasskeyLogin(),
    import('@simplewebauthn/browser'),
  ]);
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const response = await explainBrowser(startAuthentication({ optionsJSON }));
  return { challengeId, response };
}

/** Creates a passkey with the options of the server. Returns the response for the server. */
export async function createPasskey(options: object): Promise<object> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  return explainBrowser(startRegistration({ optionsJSON }));
}

/** Texts for the errors of WebAuthn, by the name of the error. */
const browserProblems: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was used: the request was canceled, or it timed out. Try again.',
  AbortError: 'No passkey was used: the request was canceled. Try again.',
  InvalidStateError: 'This device already has a passkey of your account.',
  SecurityError:
    'Passkeys do not work at this address. Open the console at the public address of the server.',
};

async function explainBrowser<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    const text = error instanceof Error ? browserProblems[error.name] : undefined;
    throw new ActionFailure(text ?? 'The browser cannot use this passkey. Try another one.', {
      cause: error,
    });
  }
}

/** Describes why a sign-in with a passkey failed. */
export function describePasskeyProblem(error: unknown): string {
  const isRefused = error instanceof EspalierError && error.code === 'INVALID_CREDENTIALS';
  if (!isRefused) return describeProblem(error).text;
  return 'This passkey is not accepted. It may have been removed from your account. Sign in another way.';
}
