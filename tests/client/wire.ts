/** What lies between a client and the server: it notes each request, and loses, cuts or delays what a test says. */

export interface Noted {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

type Send = () => Promise<Response>;

export class Wire {
  readonly noted: Noted[] = [];
  /** Stands in the way of a request; without an answer it passes. */
  onRequest: (noted: Noted, send: Send) => Promise<Response> | undefined = () => undefined;

  readonly fetch: typeof fetch = (input, init) => {
    const noted = {
      path: new URL(input).pathname,
      headers: new Headers(init?.headers),
      body: typeof init?.body === 'string' ? init.body : '',
    };
    this.noted.push(noted);
    const send = () => fetch(input, init);
    return this.onRequest(noted, send) ?? send();
  };

  count(path: string): number {
    return this.noted.filter((noted) => noted.path === path).length;
  }

  forget(): void {
    this.noted.length = 0;
  }

  /** The next replies at a path are lost after the server has done what it was asked. */
  loseReplies(path: string, count = 1): void {
    this.#next(path, count, async (send) => {
      await (await send()).text();
      throw new TypeError('fetch failed');
    });
  }

  /** The next requests at a path are answered with this instead. */
  answer(path: string, count: number, make: () => Response): void {
    this.#next(path, count, () => Promise.resolve(make()));
  }

  /** The next replies at a path end in the middle. */
  cutReplies(path: string, count = 1): void {
    this.#next(path, count, async (send) => {
      const response = await send();
      const text = await response.text();
      return new Response(text.slice(0, text.length / 2), response);
    });
  }

  #next(path: string, count: number, act: (send: Send) => Promise<Response>): void {
    let left = count;
    this.onRequest = (noted, send) => (noted.path === path && left-- > 0 ? act(send) : undefined);
  }
}
