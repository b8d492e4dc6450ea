/** A layer between client and server. It records each request, and drops, truncates or delays replies on demand. */

export interface RecordedRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

type Send = () => Promise<Response>;

export class Wire {
  readonly requests: RecordedRequest[] = [];
  /** Intercepts a request. If it returns undefined, the request is sent. */
  onRequest: (request: RecordedRequest, send: Send) => Promise<Response> | undefined = () => undefined;

  readonly fetch: typeof fetch = (input, init) => {
    const request = {
      path: new URL(input).pathname,
      headers: new Headers(init?.headers),
      body: typeof init?.body === 'string' ? init.body : '',
    };
    this.requests.push(request);
    const send = () => fetch(input, init);
    return this.onRequest(request, send) ?? send();
  };

  countRequests(path: string): number {
    return this.requests.filter((request) => request.path === path).length;
  }

  clear(): void {
    this.requests.length = 0;
  }

  /** Drops the next replies at a path after the server has executed the requests. */
  dropReplies(path: string, count = 1): void {
    this.#interceptNext(path, count, async (send) => {
      await (await send()).text();
      throw new TypeError('fetch failed');
    });
  }

  /** Answers the next requests at a path with a response from `createResponse`. These requests do not reach the server. */
  answer(path: string, count: number, createResponse: () => Response): void {
    this.#interceptNext(path, count, () => Promise.resolve(createResponse()));
  }

  /** Truncates the next replies at a path. */
  truncateReplies(path: string, count = 1): void {
    this.#interceptNext(path, count, async (send) => {
      const response = await send();
      const text = await response.text();
      return new Response(text.slice(0, text.length / 2), response);
    });
  }

  #interceptNext(path: string, count: number, handle: (send: Send) => Promise<Response>): void {
    let remaining = count;
    this.onRequest = (request, send) => (request.path === path && remaining-- > 0 ? handle(send) : undefined);
  }
}
