/** Hears of what other processes commit. A hint only: what is missed is found by whoever looks again. */

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

export interface Listener {
  watch(onCommit: () => void): void;
  /** This process has committed something itself. */
  notify(): void;
  /** False while there is no connection to listen on, though there should be. */
  readonly isListening: boolean;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly config: pg.ClientConfig;
  readonly channel: string;
  /** Without sessions there is nothing to listen on: it is looked again and again. */
  readonly keepsSessions: boolean;
  /** Told of what this process has committed, if others do not hear of it by listening. */
  readonly onAnnounced?: (() => void) | undefined;
}

const lookEveryMs = 500;
const firstPauseMs = 100;
const longestPauseMs = 2_000;

export function openListener(options: ListenerOptions): Listener {
  const { config, channel, keepsSessions, onAnnounced } = options;
  const watching: (() => void)[] = [];
  const wake = () => watching.forEach((onCommit) => onCommit());
  const closing = new AbortController();
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isListening = !keepsSessions;

  async function listen(): Promise<void> {
    let pauseMs = firstPauseMs;
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
        pauseMs = firstPauseMs;
        // Something may have been committed before it listened.
        wake();
        await isOver;
      } catch {
        // Whoever reads or writes meets the same trouble, and can tell.
      }
      isListening = false;
      void client.end().catch(() => undefined);
      await delay(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  return {
    notify() {
      wake();
      if (!keepsSessions) onAnnounced?.();
    },
    watch(onCommit) {
      watching.push(onCommit);
      if (watching.length > 1) return;
      if (keepsSessions) void listen();
      else timer = setInterval(wake, lookEveryMs).unref();
    },
    get isListening() {
      return isListening;
    },
    async close() {
      watching.length = 0;
      clearInterval(timer);
      closing.abort();
      await client?.end().catch(() => undefined);
    },
  };
}
