/** Where the explorer keeps people's queries: in this browser, apart for each person. Passwords and tokens are left out. */

import { bareDocument, mentionsSecret, withoutSecrets } from './bare-query.ts';

export interface KeptStorage {
  readonly length: number;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  clear(): void;
}

/** Keeps under a name of its own what it is given; in memory only if `inner` is closed to this page. */
export function keptQueries(name: string, inner: Storage | null): KeptStorage {
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
    setItem: (key, value) => inner?.setItem(prefix + key, bareItem(key, value)),
    removeItem: (key) => inner?.removeItem(prefix + key),
    clear() {
      for (const key of ownKeys()) inner?.removeItem(key);
    },
  };
}

/** GraphiQL keeps its tabs and its history as JSON, with queries in it, and texts of the editors as they are. */
function bareItem(key: string, value: string): string {
  if (!mentionsSecret(value)) return value;
  if (/(?:^|:)(?:variables|headers)$/.test(key)) return '';
  try {
    return JSON.stringify(withoutSecrets(JSON.parse(value)));
  } catch {
    return bareDocument(value);
  }
}
