import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { SharedPort, type Receiver } from './shared-port.ts';

class Taker implements Receiver {
  readonly taken: Socket[] = [];
  isReachable = true;
  isBehind = false;
  #wake: () => void = () => undefined;

  hand(socket: Socket): boolean {
    if (!this.isBehind) this.taken.push(socket);
    this.#wake();
    return !this.isBehind;
  }

  async has(count: number): Promise<void> {
    while (this.taken.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

describe('a port of several workers', () => {
  const open = async (takers: readonly Taker[]) => {
    const port = new SharedPort();
    takers.forEach((taker) => port.add(taker));
    const { port: number } = await port.listen({ host: '127.0.0.1', port: 0 });
    const clients: Socket[] = [];
    const come = async (count: number) => {
      for (let left = count; left > 0; left--) {
        const client = connect(number, '127.0.0.1').on('error', () => undefined);
        clients.push(client);
        await once(client, 'connect');
      }
    };
    const close = async () => {
      for (const socket of [...clients, ...takers.flatMap(({ taken }) => taken)]) socket.destroy();
      await port.close();
    };
    return { number, port, come, close };
  };

  test('a connection goes to whoever has fewest, by turns among equals', async () => {
    const [one, other] = [new Taker(), new Taker()];
    const { port, come, close } = await open([one, other]);
    await come(4);
    await Promise.all([one.has(2), other.has(2)]);
    port.release(other, 2);
    await come(2);
    await other.has(4);
    assert.equal(one.taken.length, 2);
    await close();
  });

  test('who cannot be reached, or is behind, is passed over', async () => {
    const [one, other] = [new Taker(), new Taker()];
    const { come, close } = await open([one, other]);
    one.isReachable = false;
    await come(2);
    await other.has(2);
    one.isReachable = true;
    one.isBehind = true;
    await come(1);
    await other.has(3);
    assert.equal(one.taken.length, 0);
    await close();
  });

  test('when all are behind, a connection is ended', async () => {
    const taker = new Taker();
    const { number, come, close } = await open([taker]);
    taker.isBehind = true;
    const client = connect(number, '127.0.0.1')
      .resume()
      .on('error', () => undefined);
    await once(client, 'close');
    taker.isBehind = false;
    await come(1);
    await taker.has(1);
    await close();
  });

  test('while nobody is there, connections wait for the next one', async () => {
    const { port, come, close } = await open([]);
    await come(2);
    const taker = new Taker();
    await come(1);
    port.add(taker);
    await taker.has(3);
    taker.taken.forEach((socket) => socket.destroy());
    await close();
  });

  test('a port that is taken is told in words', async () => {
    const [port, late] = [new SharedPort(), new SharedPort()];
    const { port: number } = await port.listen({ host: '127.0.0.1', port: 0 });
    await assert.rejects(
      late.listen({ host: '127.0.0.1', port: number }),
      /^StartError: Port \d+ .* is taken/,
    );
    await port.close();
  });
});
