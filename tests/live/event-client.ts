/** Reads an event stream by hand, event by event. */

export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Nothing takes so long; but a machine may be busy with something else. */
const patienceMs = 60_000;

export class EventClient {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #decoder = new TextDecoder();
  #text = '';
  /** Comments are counted, not told. */
  comments = 0;
  /** Where to go on, if the server has said so at the end. */
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

  /** Undefined when the stream has ended. */
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

  async rest(): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  leave(): void {
    this.#abort.abort();
  }

  #read() {
    let timer: NodeJS.Timeout;
    const patience = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('No event came.')), patienceMs);
    });
    return Promise.race([this.#reader.read(), patience]).finally(() => clearTimeout(timer));
  }
}

function toEvent(block: string): StreamedEvent {
  const [, event = '', data = ''] = /^event: (\w+)\ndata: ?([^\n]*)$/.exec(block) ?? [];
  if (!event) throw new Error(`This is no event: ${JSON.stringify(block)}`);
  return { event, data: data === '' ? '' : JSON.parse(data) };
}
