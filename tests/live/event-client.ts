/** Reads an event stream by hand, event by event. */

export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Generous, because the test machine may be busy. */
const timeoutMs = 60_000;

export class EventClient {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #decoder = new TextDecoder();
  #text = '';
  /** The number of heartbeat comments received. */
  comments = 0;
  /** The cursor to resume from, if the server sent one at the end of the stream. */
  cursor: string | undefined;

  static async open(url: string, body: unknown, headers: Record<string, string> = {}): Promise<EventClient> {
    const abort = new AbortController();
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
      signal: abort.signal,
    });
    return new EventClient(response, abort);
  }

  constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#reader = response.body!.getReader();
    this.#abort = abort;
  }

  /** Returns undefined after the end of the stream. */
  async next(): Promise<StreamedEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = await this.#read();
        if (done) return undefined;
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const block = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      if (block === ':') this.comments++;
      else if (block.startsWith(': cursor=')) this.cursor = block.slice(': cursor='.length);
      else return toEvent(block);
    }
  }

  async readRest(): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  disconnect(): void {
    this.#abort.abort();
  }

  #read() {
    let timer: NodeJS.Timeout;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('No event arrived.')), timeoutMs);
    });
    return Promise.race([this.#reader.read(), timeout]).finally(() => clearTimeout(timer));
  }
}

function toEvent(block: string): StreamedEvent {
  const [, event = '', data = ''] = /^event: (\w+)\ndata: ?([^\n]*)$/.exec(block) ?? [];
  if (!event) throw new Error(`This is not an event: ${JSON.stringify(block)}`);
  return { event, data: data === '' ? '' : JSON.parse(data) };
}
