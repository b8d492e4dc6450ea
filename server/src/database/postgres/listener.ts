/**
 * Receives a notification when another process commits. `commit` in `transaction.ts` sends it. A notification may be lost, so
 * its receivers also poll.
 */

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

interface Listener {
  watch(onCommit: () => void): void;
  /** Wakes the receivers of this process after its own commit. */
  notify(): void;
  /** False while the connection for notifications is lost. */
  readonly isListening: boolean;
  close(): Promise<void>;
}

interface ListenerOptions {
  readonly config: pg.ClientConfig;
  readonly channel: string;
  /** Without sessions, PostgreSQL sends no notifications: the receivers are woken at an interval. */
  readonly keepsSessions: boolean;
  /** Called after a commit of this process, if other processes get no notification. */
  readonly onAnnounced?: (() => void) | undefined;
}

const pollMs = 500;
const minPauseMs = 100;
const maxPauseMs = 2_000;

export function openListener(options: ListenerOptions): Listener {
  const { config, channel, keepsSessions, onAnnounced } = options;
  const receivers: (() => void)[] = [];
  const wake = () => receivers.forEach((onCommit) => onCommit());
  const closing = new AbortController();
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isListening = !keepsSessions;

  async function listen(): Promise<void> {
    let pauseMs = minPauseMs;
    while (!closing.signal.aborted) {
      client = new pg.Client(config);
      const isOver = new Promise<void>((resolve) => {
        client!.on('error', () => resolve());
        client!.on('end', () => resolve());
      });
      client.on('notification', wake);
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
        isListening = true;
        pauseMs = minPauseMs;
        // Something may have been committed before the connection listened.
        wake();
        await isOver;
      } catch {
        // Reads and writes fail with the same error, and report it.
      }
      isListening = false;
      void client.end().catch(() => undefined);
      await delay(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    }
  }

  return {
    notify() {
      wake();
      if (!keepsSessions) onAnnounced?.();
    },
    watch(onCommit) {
      receivers.push(onCommit);
      if (receivers.length > 1) return;
      if (keepsSessions) void listen();
      else timer = setInterval(wake, pollMs).unref();
    },
    get isListening() {
      return isListening;
    },
    async close() {
      receivers.length = 0;
      clearInterval(timer);
      closing.abort();
      await client?.end().catch(() => undefined);
    },
  };
}
