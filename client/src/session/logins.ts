/**
 * Starts sessions: with a password and a code, with the enrolment of a second factor, with a passkey, or with single sign-on.
 * `Session` then keeps the tokens.
 */

import type { Clock } from '../clock.ts';
import { EspalierError, type SecondFactorMethod } from '../errors.ts';
import { paths, TransientFailure, type ApiResponse, type Path, type Requests } from '../requests.ts';
import { abortable } from '../timers.ts';
import type { SignalOptions } from './session.ts';
import {
  readLoginMethods,
  startSingleSignOn,
  type LoginMethods,
  type SingleSignOnOptions,
  type SingleSignOnResult,
  type SingleSignOnStart,
} from './single-sign-on.ts';
import { readTokens, type Tokens } from './token-storage.ts';

/** The user name and the password of a login. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** A code of the user's authenticator app, or a recovery code. Only for users with a second factor. */
  readonly code?: string | undefined;
}

/** The question for a code, for `askForCode`. */
export interface CodeQuestion {
  /**
   * The second factors of the user. The user can answer with a code of an authenticator app (`TOTP`) or a recovery code. For a
   * passkey, see `startPasskeyLogin`.
   */
  readonly methods: readonly SecondFactorMethod[];
  /** Whether the previous code was wrong, expired or already used. */
  readonly wasWrong: boolean;
}

/** Options of `login`. */
export interface LoginOptions extends SignalOptions {
  /**
   * Asks the user for a code if the user has a second factor, and again if the code was wrong. To give up, throw an error: `login`
   * rejects with it. Without `askForCode`, `login` rejects with SECOND_FACTOR_REQUIRED.
   */
  readonly askForCode?: ((question: CodeQuestion) => string | Promise<string>) | undefined;
}

/** The new secret of an authenticator app, which the user confirms with a code. */
export interface StartedEnrolment {
  /** The name of the user who logs in. */
  readonly username: string;
  /** The secret in Base32, for users who type it into their app. */
  readonly secret: string;
  /** The `otpauth:` URI, for a QR code. */
  readonly uri: string;
}

export interface FinishedEnrolment {
  /** Each of these codes replaces one code of the app. Show them to the user now, because they cannot be read again. */
  readonly recoveryCodes: readonly string[];
}

/** The request for a passkey. */
export interface PasskeyRequest {
  readonly challengeId: string;
  /** Options for `navigator.credentials.get()`, in the JSON form of WebAuthn. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The answer of the browser to a `PasskeyRequest`. */
export interface PasskeyAnswer {
  readonly challengeId: string;
  /** The credential, in the JSON form of WebAuthn. */
  readonly response: object;
}

/** The calls that start a session. */
export interface Logins {
  /**
   * Starts a session that replaces the client's current session. The previous session stays valid on the server. If another
   * user logs in, running subscriptions and watched trees end with LOGGED_OUT, because that user has other rights.
   *
   * @example
   * try {
   *   await client.login({ username: 'admin', password });
   * } catch (error) {
   *   if (error instanceof EspalierError && error.code === 'INVALID_CREDENTIALS') askAgain();
   *   else throw error;
   * }
   *
   * @example
   * const askForCode = ({ wasWrong }: CodeQuestion) => prompt(wasWrong ? 'Wrong code. Try again' : 'Code');
   * await client.login({ username: 'admin', password }, { askForCode });
   */
  login(credentials: Credentials, options?: LoginOptions): Promise<void>;
  /** Asks the server how users can log in, for example to build a login page. Needs no session. */
  loginMethods(options?: SignalOptions): Promise<LoginMethods>;
  /**
   * Prepares a login with single sign-on. Sends no request. Open the returned `url` in a browser, and keep the `verifier`. The
   * browser comes back with a one-time code, which `completeSingleSignOn` exchanges within a minute.
   *
   * @example
   * const { url, verifier } = await client.startSingleSignOn({ redirectUri: 'http://127.0.0.1:51000/callback' });
   * console.log(`Open ${url}`);
   * const code = await waitForCallback(); // the parameter `code` of the request to the redirect address
   * await client.completeSingleSignOn({ code, verifier });
   */
  startSingleSignOn(options?: SingleSignOnOptions): Promise<SingleSignOnStart>;
  /** Starts a session like `login`, with the one-time code of a single sign-on and the verifier of its start. */
  completeSingleSignOn(result: SingleSignOnResult, options?: SignalOptions): Promise<void>;
  /**
   * Starts the enrolment of an authenticator app during a login. Call it after `login` has rejected with
   * SECOND_FACTOR_ENROLMENT_REQUIRED. Finish with `confirmEnrolment`.
   */
  startEnrolment(enrolmentToken: string, options?: SignalOptions): Promise<StartedEnrolment>;
  /** Finishes the enrolment with a code of the app, and starts a session like `login`. */
  confirmEnrolment(
    input: { readonly enrolmentToken: string; readonly code: string },
    options?: SignalOptions,
  ): Promise<FinishedEnrolment>;
  /**
   * Starts a login with a passkey, which needs a browser.
   *
   * @example
   * const { challengeId, options } = await client.startPasskeyLogin();
   * const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
   * const credential = await navigator.credentials.get({ publicKey });
   * await client.loginWithPasskey({ challengeId, response: credential.toJSON() });
   */
  startPasskeyLogin(options?: SignalOptions): Promise<PasskeyRequest>;
  /** Finishes the login with a passkey, and starts a session like `login`. */
  loginWithPasskey(answer: PasskeyAnswer, options?: SignalOptions): Promise<void>;
}

interface LoginContext {
  /** The API root. */
  readonly url: string;
  readonly requests: Requests;
  readonly clock: Clock;
  /** Keeps the tokens of the new session. */
  readonly begin: (tokens: Tokens) => Promise<void>;
}

export function createLogins(context: LoginContext): Logins {
  return {
    login: (credentials, options) => logIn(context, credentials, options),
    loginMethods: (options) => readLoginMethods(context.requests, options),
    startSingleSignOn: (options) => startSingleSignOn(context.url, options),
    async completeSingleSignOn({ code, verifier }, options) {
      await startSession(context, paths.singleSignOn, { code, verifier }, options);
    },
    async startEnrolment(enrolmentToken, options) {
      const { username, secret, uri } = await send(context, paths.enrolment, { enrolmentToken }, options);
      return { username: username as string, secret: secret as string, uri: uri as string };
    },
    async confirmEnrolment({ enrolmentToken, code }, options) {
      const input = { enrolmentToken, code };
      const { recoveryCodes } = await startSession(context, paths.confirmEnrolment, input, options);
      return { recoveryCodes: recoveryCodes as string[] };
    },
    async startPasskeyLogin(callOptions) {
      const { challengeId, options } = await send(context, paths.passkeyOptions, {}, callOptions);
      return { challengeId: challengeId as string, options: options as PasskeyRequest['options'] };
    },
    async loginWithPasskey({ challengeId, response }, options) {
      await startSession(context, paths.passkeyLogin, { challengeId, response }, options);
    },
  };
}

async function logIn(
  context: LoginContext,
  { username, password, code }: Credentials,
  { signal, askForCode }: LoginOptions = {},
): Promise<void> {
  let question: CodeQuestion | undefined;
  for (;;) {
    try {
      await startSession(context, paths.login, { username, password, code }, { signal });
      return;
    } catch (error) {
      question = toCodeQuestion(error, question);
      if (!question || !askForCode) throw error;
    }
    code = await abortable(Promise.resolve(askForCode(question)), signal);
  }
}

/** Sends a request that starts a session. Returns the values of the response. */
async function startSession(
  { requests, clock, begin }: LoginContext,
  path: Path,
  input: object,
  { signal }: SignalOptions = {},
): Promise<ApiResponse['value']> {
  const body = JSON.stringify(input);
  const work = async () => {
    const sentAt = clock.now();
    const response = await requests.post(path, { body, signal });
    if (response instanceof TransientFailure) return response;
    const tokens = readTokens(response, sentAt);
    if (!tokens) throw requests.toError(response);
    return { tokens, value: response.value };
  };
  const { tokens, value } = await requests.retry(work, { signal });
  await begin(tokens);
  return value;
}

/** Sends a request that belongs to a login and does not start a session yet. */
async function send(
  { requests }: LoginContext,
  path: Path,
  input: object,
  { signal }: SignalOptions = {},
): Promise<ApiResponse['value']> {
  const body = JSON.stringify(input);
  const response = await requests.retry(() => requests.post(path, { body, signal }), { signal });
  if (response.status !== 200) throw requests.toError(response);
  return response.value;
}

/** Returns undefined if the error is not about a code. The refusal of a wrong code can be without methods. */
function toCodeQuestion(error: unknown, previous: CodeQuestion | undefined): CodeQuestion | undefined {
  if (!(error instanceof EspalierError)) return undefined;
  const { code, methods = previous?.methods ?? ['TOTP', 'RECOVERY_CODE'] } = error;
  if (code === 'SECOND_FACTOR_REQUIRED') return { methods, wasWrong: false };
  return code === 'WRONG_SECOND_FACTOR' ? { methods, wasWrong: true } : undefined;
}
