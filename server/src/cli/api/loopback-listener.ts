/**
 * Receives the browser's return from a single sign-on at a random port and path of this machine (RFC 8252, section 7.3). Other
 * programs and web pages can send requests to the port, so only one request to the secret path counts.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the browser brought back: a one-time code, or the reason why there is none. */
export type BrowserReturn = { readonly code: string } | { readonly error: string; readonly about: string };

interface ReceivedReturn {
  readonly value: BrowserReturn;
  /** Shows the result to the user. The browser waits for it. */
  readonly answer: (hasLoggedIn: boolean) => Promise<void>;
}

const address = '127.0.0.1';
const maxConnections = 20;
const maxHeaderBytes = 8 * 1024;
const requestTimeoutMs = 10_000;
const maxCodeLength = 512;
const maxTextLength = 500;

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

export class LoopbackListener {
  readonly redirectUri: string;
  readonly port: number;
  readonly #server: Server;
  readonly #path: string;
  readonly #received = Promise.withResolvers<ReceivedReturn>();
  #hasReceived = false;

  static async start(): Promise<LoopbackListener> {
    const server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: requestTimeoutMs });
    server.maxConnections = maxConnections;
    server.listen(0, address);
    await once(server, 'listening');
    return new LoopbackListener(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#path = `/${randomBytes(16).toString('base64url')}`;
    this.redirectUri = `http://${address}:${this.port}${this.#path}`;
    server.on('request', (request, response) => void this.#handle(request, response));
  }

  /** Waits for the return of the browser. Rejects with the reason of the signal. */
  async receive(signal: AbortSignal): Promise<ReceivedReturn> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      return await Promise.race([this.#received.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #handle({ method, url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page that reaches this port under its own host name (DNS rebinding) sends that name.
    const isOwnHost = headers.host === `${address}:${this.port}`;
    const target =
      isOwnHost && URL.canParse(url, this.redirectUri) ? new URL(url, this.redirectUri) : undefined;
    if (target?.pathname !== this.#path) return sendPage(response, 404, 'There is no such page');
    if (method !== 'GET') return sendPage(response, 405, 'This page accepts only GET', { allow: 'GET' });
    const value = readReturn(target.searchParams);
    if (!value)
      return sendPage(response, 400, 'The login did not return a code', {}, 'Try again in the browser.');
    if (this.#hasReceived) return sendPage(response, 410, 'This login is already finished');
    this.#hasReceived = true;
    const answer = (hasLoggedIn: boolean) =>
      hasLoggedIn
        ? sendPage(
            response,
            200,
            'You are logged in',
            {},
            'You can close this window and return to the terminal.',
          )
        : sendPage(
            response,
            200,
            'The login failed',
            {},
            'The terminal shows the reason. You can close this window.',
          );
    this.#received.resolve({ value, answer });
  }
}

function readReturn(parameters: URLSearchParams): BrowserReturn | undefined {
  const [code, ...moreCodes] = parameters.getAll('code');
  const error = parameters.get('error');
  if (error) {
    const about = parameters.get('error_description') ?? '';
    return { error: error.slice(0, maxTextLength), about: about.slice(0, maxTextLength) };
  }
  const isCode = code !== undefined && moreCodes.length === 0 && code !== '' && code.length <= maxCodeLength;
  return isCode ? { code } : undefined;
}

async function sendPage(
  response: ServerResponse,
  status: number,
  title: string,
  headers: Readonly<Record<string, string>> = {},
  text = '',
): Promise<void> {
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${title} · Espalier</title>
<main><h1>${title}</h1><p>${text}</p></main></html>
`;
  response.writeHead(status, { ...pageHeaders, ...headers });
  await new Promise<void>((resolve) => {
    // A browser that has closed the connection does not need the page.
    response.once('close', resolve);
    response.end(page);
  });
}
