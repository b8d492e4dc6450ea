/** Sends raw request text to a stub app, with a new connection for each request. */

import assert from 'node:assert/strict';
import { RawConnection, type RawResponse } from '../support/raw-connection.ts';
import type { StubApp } from './stub-app.ts';

export const json = 'Content-Type: application/json';

export class RawClient {
  readonly app: StubApp;
  readonly #basePath: string;

  constructor(app: StubApp, basePath = '') {
    this.app = app;
    this.#basePath = basePath;
  }

  get bearer(): string {
    return `Authorization: Bearer ${this.app.token('ann')}`;
  }

  async exchange(text: string): Promise<RawResponse> {
    const connection = await RawConnection.open(this.app.url);
    const response = await connection.exchange(text);
    connection.close();
    assert.ok(response, `no response to ${JSON.stringify(text.slice(0, 80))}`);
    return response;
  }

  send(method: string, path: string, headers: readonly string[] = [], body = ''): Promise<RawResponse> {
    const head = [`${method} ${this.#basePath}${path} HTTP/1.1`, ...headers].join('\r\n');
    return this.exchange(`${head}\r\n\r\n${body}`);
  }

  post(headers: readonly string[], body = '{"query":"{x}"}', path = '/graphql'): Promise<RawResponse> {
    return this.send('POST', path, ['Host: x', ...headers, `Content-Length: ${body.length}`], body);
  }
}
