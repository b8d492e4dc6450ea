/** Stores the explorer's queries in this browser, separately for each user and without passwords and tokens. */

import { redactDocument, mentionsSecret, redactJson } from './redact-query.ts';

export interface QueryStorage {
  readonly length: number;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  clear(): void;
}

/** Stores items under a prefix. Uses memory if the browser denies its storage. */
export function createQueryStorage(name: string, inner: Storage | null): QueryStorage {
  const prefix = `espalier:explorer:${name}:`;
  const ownKeys = () =>
    Array.from({ length: inner?.length ?? 0 }, (_, at) => inner!.key(at)!).filter((key) =>
      key.startsWith(prefix),
    );
  return {
    get length() {
      return ownKeys().length;
    },
    getItem: (key) => inner?.getItem(prefix + key) ?? null,
    setItem: (key, value) => inner?.setItem(prefix + key, redactItem(key, value)),
    removeItem: (key) => inner?.removeItem(prefix + key),
    clear() {
      for (const key of ownKeys()) inner?.removeItem(key);
    },
  };
}

/** GraphiQL stores tabs and history as JSON that contains queries, and the texts of the editors unchanged. */
function redactItem(key: string, value: string): string {
  if (!mentionsSecret(value)) return value;
  if (/(?:^|:)(?:variables|headers)$/.test(key)) return '';
  try {
    return JSON.stringify(redactJson(JSON.parse(value)));
  } catch {
    return redactDocument(value);
  }
}
