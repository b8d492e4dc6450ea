/** Sends whatever bytes, and reads what comes until it is certain that nothing more will: no answer is waited for in vain. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readAnswers, readOneAnswer, type Answer } from './answers.ts';
import { render, type HostileRequest, type Materials } from './hostile-request.ts';

/** Comes last on a connection: when it is answered, so is all that came before. */
const lastRequest = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const lastFrame = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
/** What is not complete makes the server wait for more: then it is told that no more will come. */
const quietMs = 300;
/** An upgrade is answered, unless it is damaged. */
const quietSocketMs = 2_000;
/** For a word of the server before more is sent. */
const patienceMs = 500;
/** Longer than any time-out of the server after the client has hung up. */
const mostMs = 30_000;

/** The server neither answers nor hangs up. */
export class StuckError extends Error {}

export class HostileConnections {
  readonly #url: URL;
  readonly #idle: Socket[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async send(request: HostileRequest, materials: Materials): Promise<Answer[]> {
    const { first, then } = render(request, materials);
    if (request.isOrderly) return this.#exchange(first);
    return this.#sendAndEnd([first, then], request.kind === 'socket');
  }

  close(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }

  /** Over a connection that is used again, as long as the server lets it. */
  async #exchange(bytes: Buffer): Promise<Answer[]> {
    const used = this.#idle.pop();
    const socket = used ?? (await this.#open());
    const answer = await exchangeOn(socket, bytes);
    // The server may have closed an idle connection at the very moment it was used.
    if (!answer && used) return this.#exchange(bytes);
    if (answer && !/^connection: close/im.test(answer.head)) this.#idle.push(socket);
    else socket.destroy();
    return answer ? [answer] : [];
  }

  async #sendAndEnd([first, then]: [Buffer, Buffer], isSocket: boolean): Promise<Answer[]> {
    const socket = await this.#open();
    const chunks: Buffer[] = [];
    const quiet = setTimeout(() => socket.end(), isSocket ? quietSocketMs : quietMs);
    const deadline = setTimeout(() => socket.destroy(new StuckError('The server does not hang up.')), mostMs);
    let stuck: Error | undefined;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      quiet.refresh();
    });
    socket.on('error', (error) => {
      if (error instanceof StuckError) stuck = error;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(first);
    if (then.length > 0) {
      await somethingAfterUpgrade(socket, chunks);
      socket.write(then);
      await somethingOf(socket);
    }
    if (!socket.destroyed) socket.write(isSocket ? lastFrame : lastRequest);
    await closed;
    clearTimeout(quiet);
    clearTimeout(deadline);
    if (stuck) throw stuck;
    return readAnswers(Buffer.concat(chunks));
  }

  async #open(): Promise<Socket> {
    const { hostname, port } = this.#url;
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
}

/** Whatever the server says, or that it says nothing. */
async function somethingOf(socket: Socket): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(patienceMs)]);
  try {
    await Promise.race([once(socket, 'data', { signal }), once(socket, 'close', { signal })]);
  } catch {
    // It said nothing.
  } finally {
    over.abort();
  }
}

async function somethingAfterUpgrade(socket: Socket, chunks: readonly Buffer[]): Promise<void> {
  await somethingOf(socket);
  const received = Buffer.concat(chunks).toString('latin1');
  if (received.startsWith('HTTP/1.1 101') && received.endsWith('\r\n\r\n')) await somethingOf(socket);
}

/** Undefined if the server hangs up without an answer. */
function exchangeOn(socket: Socket, bytes: Buffer): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const deadline = setTimeout(() => end(new StuckError('There is no answer.')), mostMs);
    const onData = (chunk: Buffer) => {
      received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk;
      const answer = readOneAnswer(received);
      if (answer) end(answer);
    };
    const onClose = () => end(undefined);
    const end = (outcome: Answer | StuckError | undefined) => {
      clearTimeout(deadline);
      socket.off('data', onData).off('close', onClose);
      if (outcome instanceof StuckError) reject(outcome);
      else resolve(outcome);
    };
    socket.on('data', onData).on('close', onClose);
    if (socket.destroyed) end(undefined);
    else socket.write(bytes);
  });
}
