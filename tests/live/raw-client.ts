/** Sends requests to a staged app exactly as a test writes them. */

import assert from 'node:assert/strict';
import { RawConnection, type RawAnswer } from '../raw-connection.ts';
import type { StagedApp } from './staged-app.ts';

export const json = 'Content-Type: application/json';

/** Sends raw requests to an app, one on each connection. */
export class RawClient {
  readonly app: StagedApp;
  readonly #basePath: string;

  constructor(app: StagedApp, basePath = '') {
    this.app = app;
    this.#basePath = basePath;
  }

  get bearer(): string {
    return `Authorization: Bearer ${this.app.token('ann')}`;
  }

  async exchange(text: string): Promise<RawAnswer> {
    const connection = await RawConnection.open(this.app.url);
    const answer = await connection.exchange(text);
    connection.close();
    assert.ok(answer, `a response to ${JSON.stringify(text.slice(0, 80))}`);
    return answer;
  }

  send(method: string, path: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> {
    const head = [`${method} ${this.#basePath}${path} HTTP/1.1`, ...headers].join('\r\n');
    return this.exchange(`${head}\r\n\r\n${body}`);
  }

  post(headers: readonly string[], body = '{"query":"{x}"}', path = '/graphql'): Promise<RawAnswer> {
    return this.send('POST', path, ['Host: x', ...headers, `Content-Length: ${body.length}`], body);
  }
}
