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
  const goneCalls: true[] = [];
  const flowSocket: FlowControlledSocket = new FlowControlledSocket(socket as unknown as WebSocket, {
    onUnsent: () => unsent.push(flowSocket.unsentBytes),
    onGone: () => goneCalls.push(true),
  });
  return { socket, flowSocket, unsent, goneCalls };
}

describe('a flow-controlled socket', () => {
  test('closes if the client sends messages and pongs but never reads', () => {
    const { socket, flowSocket } = start();
    void flowSocket.send('x');
    for (let count = 0; count < 4; count++) {
      assert.ok(!socket.isTerminated);
      socket.emit('message');
      flowSocket.heartbeat();
    }
    assert.ok(socket.isTerminated);
  });

  test('stays open if the client reads from time to time', () => {
    const { socket, flowSocket } = start();
    for (let frame = 0; frame < 100; frame++) void flowSocket.send('x');
    for (let count = 0; count < 60; count++) {
      if (count % 2 === 0) socket.flushOne();
      flowSocket.heartbeat();
    }
    assert.ok(!socket.isTerminated);
  });

  test('counts every frame until it is sent', () => {
    const { socket, flowSocket, unsent } = start();
    void flowSocket.send('x'.repeat(100));
    void flowSocket.send('x'.repeat(100));
    assert.ok(unsent[0]! >= 200);
    assert.equal(unsent[1], 2 * unsent[0]!);
    socket.flushOne();
    socket.flushOne();
    assert.deepEqual(unsent.slice(2), [unsent[0], 0]);
  });

  test('calls onGone() before send() resolves if a frame cannot be sent', async () => {
    const { socket, flowSocket, goneCalls } = start();
    const sent = flowSocket.send('x').then(() => goneCalls.length);
    socket.flushOne(new Error('write EPIPE'));
    assert.equal(await sent, 1);
    assert.equal(flowSocket.unsentBytes, 0);
  });

  test('reads nothing while it is paused, even after it has sent a frame', () => {
    const { socket, flowSocket } = start();
    flowSocket.pauseReading();
    void flowSocket.send('x');
    socket.flushOne();
    assert.ok(socket.isPaused);
    flowSocket.resumeReading();
    assert.ok(!socket.isPaused);
  });
});
