import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import type { WebSocket } from 'ws';
import { FlowControlledSocket } from './flow-controlled-socket.ts';

/** A socket that sends a frame only when `flushOne` is called. */
class StagedSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  isPaused = false;
  isTerminated = false;
  readonly #unsent: ((error?: Error) => void)[] = [];

  send(_message: string, _options: object, sent: (error?: Error) => void): void {
    this.#unsent.push(sent);
  }

  flushOne(error?: Error): void {
    this.#unsent.shift()!(error);
  }

  ping(): void {
    this.emit('pong');
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

function start() {
  const socket = new StagedSocket();
  const unsent: number[] = [];
  const gone: true[] = [];
  const controlled: FlowControlledSocket = new FlowControlledSocket(socket as unknown as WebSocket, {
    onUnsent: () => unsent.push(controlled.unsentBytes),
    onGone: () => gone.push(true),
  });
  return { socket, controlled, unsent, gone };
}

describe('a flow-controlled socket', () => {
  test('is closed if it sends and responds to pings but never reads', () => {
    const { socket, controlled } = start();
    void controlled.send('x');
    for (let count = 0; count < 4; count++) {
      assert.ok(!socket.isTerminated);
      socket.emit('message');
      controlled.heartbeat();
    }
    assert.ok(socket.isTerminated);
  });

  test('stays open if it reads from time to time', () => {
    const { socket, controlled } = start();
    for (let frame = 0; frame < 100; frame++) void controlled.send('x');
    for (let count = 0; count < 60; count++) {
      if (count % 2 === 0) socket.flushOne();
      controlled.heartbeat();
    }
    assert.ok(!socket.isTerminated);
  });

  test('counts every frame until it is sent', () => {
    const { socket, controlled, unsent } = start();
    void controlled.send('x'.repeat(100));
    void controlled.send('x'.repeat(100));
    assert.ok(unsent[0]! >= 200);
    assert.equal(unsent[1], 2 * unsent[0]!);
    socket.flushOne();
    socket.flushOne();
    assert.deepEqual(unsent.slice(2), [unsent[0], 0]);
  });

  test('is reported as gone before the sender continues if a frame cannot be sent', async () => {
    const { socket, controlled, gone } = start();
    const sent = controlled.send('x').then(() => gone.length);
    socket.flushOne(new Error('write EPIPE'));
    assert.equal(await sent, 1);
    assert.equal(controlled.unsentBytes, 0);
  });

  test('is not read while it is paused, whatever is sent to it', () => {
    const { socket, controlled } = start();
    controlled.pauseReading();
    void controlled.send('x');
    socket.flushOne();
    assert.ok(socket.isPaused);
    controlled.resumeReading();
    assert.ok(!socket.isPaused);
  });
});
