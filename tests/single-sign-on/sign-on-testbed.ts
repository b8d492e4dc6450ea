/** Two nodes on one database with single sign-on, their provider, and a browser that signs users in. */

import { createHash, randomBytes } from 'node:crypto';
import type { LoginResponse } from '@espalier/contract';
import type { DatabaseKind } from '../support/databases.ts';
import { recordSecret } from '../secrets/secret-record.ts';
import { findFreePort } from '../support/free-port.ts';
import { Testbed, type TestResponse } from '../support/testbed.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { TestProvider } from './test-provider.ts';

export interface SignOnOptions {
  /** Further settings of both nodes, without the prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The host name of the public URL. Passkeys need a name. */
  readonly host?: string;
  /** By default the console of the server, whose address is never requested. */
  readonly redirectUri?: string;
  readonly returnTo?: string;
}

/** A started sign-in, from the view of the client. */
export interface SignInStart {
  readonly verifier: string;
  readonly path: string;
}

/** The return of the browser: a one-time code or an error. */
export interface SignInReturn {
  readonly verifier: string;
  readonly url: URL;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly description: string | undefined;
}

export class SignOnTestbed {
  readonly provider: TestProvider;
  /** The node at the public URL. */
  readonly node: Testbed;
  /** Another node on the same database. */
  readonly other: Testbed;
  readonly browser = new CookieBrowser();

  static async start(
    kind: DatabaseKind,
    { settings = {}, host = '127.0.0.1' }: SignOnOptions = {},
  ): Promise<SignOnTestbed> {
    const port = await findFreePort();
    const publicUrl = `http://${host}:${port}`;
    const provider = await TestProvider.start({ publicUrl });
    const common = {
      ...provider.settings,
      PUBLIC_URL: publicUrl,
      SSO_CREATE_USERS: 'on',
      ...settings,
    };
    const node = await Testbed.start(kind, { settings: { ...common, PORT: String(port) } });
    const other = await Testbed.start(kind, { settings: common, database: node.database, clock: node.clock });
    return new SignOnTestbed(provider, node, other);
  }

  private constructor(provider: TestProvider, node: Testbed, other: Testbed) {
    this.provider = provider;
    this.node = node;
    this.other = other;
  }

  async stop(): Promise<void> {
    await this.other.stop();
    await this.node.stop();
    await this.provider.stop();
  }

  /** The start of a sign-in, as a client makes it. */
  prepare({ redirectUri, returnTo }: SignOnOptions = {}): SignInStart {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      challenge,
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
      ...(returnTo !== undefined && { return_to: returnTo }),
    });
    return { verifier, path: `/login/sso?${query.toString()}` };
  }

  /** Signs a user in at the provider. The browser stops before the page that receives the code. A person confirms a program. */
  async signIn(username: string, options: SignOnOptions & { browser?: CookieBrowser; from?: Testbed } = {}) {
    this.provider.autoLogin = username;
    const { verifier, path } = this.prepare(options);
    const browser = options.browser ?? new CookieBrowser();
    const page = await browser.open((options.from ?? this.node).url + path, isReturn);
    return readReturn(isReturn(page.url) ? page.url : readProgramLink(page.text), verifier);
  }

  /** Follows the redirects up to the callback of the server, without requesting it. */
  async signInUntilCallback(
    username: string,
    node = this.node,
  ): Promise<{ verifier: string; callback: URL }> {
    this.provider.autoLogin = username;
    const { verifier, path } = this.prepare();
    const isCallback = (url: URL) => url.pathname === '/login/sso/callback';
    const page = await new CookieBrowser().open(node.url + path, isCallback);
    for (const name of ['code', 'state']) {
      recordSecret('secret of a callback', page.url.searchParams.get(name) ?? '');
    }
    return { verifier, callback: page.url };
  }

  /** Requests a callback from a node. Returns where it sends the browser. */
  async callBack(callback: URL, verifier: string, node: Testbed = this.node): Promise<SignInReturn> {
    const answer = await node.send('GET', callback.pathname + callback.search, { redirect: 'manual' });
    return readReturn(new URL(answer.headers.get('location') ?? ''), verifier);
  }

  /** Exchanges a one-time code. */
  exchange(
    { code, verifier }: Pick<SignInReturn, 'code' | 'verifier'>,
    node = this.node,
  ): Promise<TestResponse> {
    return node.post('/login/sso', { code, verifier });
  }

  /** Signs a user in, and returns the tokens of the session. */
  async logIn(username: string, node = this.node): Promise<LoginResponse> {
    const result = await this.signIn(username);
    const answer = await this.exchange(result, node);
    if (answer.status !== 200) throw new Error(`${result.url.href}: ${answer.status} ${answer.text}`);
    return answer.json<LoginResponse>();
  }
}

/** Whether the browser leaves the server and the provider. */
function isReturn({ pathname }: URL): boolean {
  return pathname === '/console/sign-in' || pathname === '/program';
}

/** The link of the page on which a person confirms the sign-in of a program. */
export function readProgramLink(page: string): URL {
  const [, address = ''] = /<a href="([^"]*)"/.exec(page)!;
  return new URL(address.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))));
}

function readReturn(url: URL, verifier: string): SignInReturn {
  const read = (name: string) => url.searchParams.get(name) ?? undefined;
  for (const secret of [verifier, read('sso_code'), read('code')]) {
    if (secret !== undefined) recordSecret('secret of a single sign-on', secret);
  }
  return {
    verifier,
    url,
    code: read('sso_code') ?? read('code'),
    error: read('error'),
    description: read('error_description'),
  };
}
