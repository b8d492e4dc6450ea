/** Follows redirects like a browser, with one cookie jar for each host. It runs no scripts. */

export interface LoadedPage {
  /** The address of the page, after all redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The addresses of all redirects. */
  readonly redirects: readonly string[];
}

const maxRedirects = 20;

export class CookieBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Stops at the first address that `isEnd` accepts, without requesting it. */
  async open(address: string, isEnd: (url: URL) => boolean = () => false): Promise<LoadedPage> {
    let url = new URL(address);
    const redirects: string[] = [];
    for (let count = 0; count < maxRedirects; count++) {
      if (count > 0 && isEnd(url)) return { url, status: 0, headers: new Headers(), text: '', redirects };
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { accept: 'text/html', cookie: this.#cookieHeader(url) },
      });
      this.#store(url, response);
      const text = await response.text();
      const location = response.headers.get('location');
      const { status, headers } = response;
      if (location === null) return { url, status, headers, text, redirects };
      url = new URL(location, url);
      redirects.push(url.href);
    }
    throw new Error(`More than ${maxRedirects} redirects from ${address}.`);
  }

  #cookieHeader({ host }: URL): string {
    return [...(this.#cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #store({ host }: URL, response: Response): void {
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = cookie.split(';');
      const equals = pair.indexOf('=');
      const name = pair.slice(0, equals).trim();
      const value = pair.slice(equals + 1).trim();
      if (value === '' || attributes.some((each) => /expires=thu, 01 jan 1970/i.test(each))) jar.delete(name);
      else jar.set(name, value);
    }
  }
}
