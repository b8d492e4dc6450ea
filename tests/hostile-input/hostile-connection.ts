/** Sends arbitrary bytes and reads all responses, without waiting longer than necessary. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readResponses, readFirstResponse, type HttpResponse } from './http-responses.ts';
import { render, type HostileRequest, type Materials } from './hostile-request.ts';

/** The last request of a connection. Its response shows that the server has answered all earlier requests. */
const lastRequest = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const lastFrame = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
/** If the server sends nothing for this time, it waits for the rest of a request. The client then ends the connection. */
const quietMs = 300;
/** The same limit for WebSocket upgrades. It is longer because the server answers every valid upgrade. */
const quietSocketMs = 2_000;
/** The time to wait for data from the server before sending more. */
const maxSilenceMs = 500;
/** Longer than every timeout of the server after the client has disconnected. */
const maxMs = 30_000;

/** The server neither responds nor closes the connection. */
export class StuckError extends Error {}

export class HostileConnections {
  readonly #url: URL;
  readonly #idle: Socket[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async send(request: HostileRequest, materials: Materials): Promise<HttpResponse[]> {
    const { first, afterResponse } = render(request, materials);
    if (request.isValidHttp) return this.#exchange(first);
    return this.#sendAndEnd([first, afterResponse], request.kind === 'socket');
  }

  close(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }

  /** Reuses a connection as long as the server allows it. */
  async #exchange(bytes: Buffer): Promise<HttpResponse[]> {
    const idleSocket = this.#idle.pop();
    const socket = idleSocket ?? (await this.#open());
    const response = await exchangeOn(socket, bytes);
    // The server may have closed the idle connection just before it was used.
    if (!response && idleSocket) return this.#exchange(bytes);
    if (response && !/^connection: close/im.test(response.head)) this.#idle.push(socket);
    else socket.destroy();
    return response ? [response] : [];
  }

  async #sendAndEnd([first, afterResponse]: [Buffer, Buffer], isSocket: boolean): Promise<HttpResponse[]> {
    const socket = await this.#open();
    const chunks: Buffer[] = [];
    const quietTimer = setTimeout(() => socket.end(), isSocket ? quietSocketMs : quietMs);
    const deadline = setTimeout(
      () => socket.destroy(new StuckError('The server does not close the connection.')),
      maxMs,
    );
    let stuckError: Error | undefined;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      quietTimer.refresh();
    });
    socket.on('error', (error) => {
      if (error instanceof StuckError) stuckError = error;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(first);
    if (afterResponse.length > 0) {
      await waitAfterUpgrade(socket, chunks);
      socket.write(afterResponse);
      await waitForData(socket);
    }
    if (!socket.destroyed) socket.write(isSocket ? lastFrame : lastRequest);
    await closed;
    clearTimeout(quietTimer);
    clearTimeout(deadline);
    if (stuckError) throw stuckError;
    return readResponses(Buffer.concat(chunks));
  }

  async #open(): Promise<Socket> {
    const { hostname, port } = this.#url;
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
}

/** Waits for data from the server, up to a limit. */
async function waitForData(socket: Socket): Promise<void> {
  const waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, AbortSignal.timeout(maxSilenceMs)]);
  try {
    await Promise.race([once(socket, 'data', { signal }), once(socket, 'close', { signal })]);
  } catch {
    // The server sent nothing.
  } finally {
    waiting.abort();
  }
}

async function waitAfterUpgrade(socket: Socket, chunks: readonly Buffer[]): Promise<void> {
  await waitForData(socket);
  const received = Buffer.concat(chunks).toString('latin1');
  if (received.startsWith('HTTP/1.1 101') && received.endsWith('\r\n\r\n')) await waitForData(socket);
}

/** Returns undefined if the server closes without a response. */
function exchangeOn(socket: Socket, bytes: Buffer): Promise<HttpResponse | undefined> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const deadline = setTimeout(() => end(new StuckError('The server does not respond.')), maxMs);
    const onData = (chunk: Buffer) => {
      received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk;
      const response = readFirstResponse(received);
      if (response) end(response);
    };
    const onClose = () => end(undefined);
    const end = (outcome: HttpResponse | StuckError | undefined) => {
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
