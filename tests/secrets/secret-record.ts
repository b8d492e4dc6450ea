/**
 * Records the passwords and tokens that the tests of this process use, and the log and output of their
 * servers. When the process ends, it searches the log and output for these secrets. It also stores both for a
 * search over all processes.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { WebSocket } from 'ws';
import { splitSecret, findSecrets, type Secret } from './secret.ts';
import { SecretSearch } from './secret-search.ts';

/** The folder where the processes of a run store their records; unset if a process runs alone. */
export const folderVariable = 'ESPALIER_TEST_SECRETS';

/** Set by `node --test`. Measurements that use the same servers are not recorded. */
export const isTestProcess = process.env['NODE_TEST_CONTEXT'] !== undefined;

export interface StoredRecord {
  readonly file: string;
  readonly secrets: readonly Secret[];
}

class SecretRecord {
  readonly #secrets = new Map<string, Secret>();
  readonly #texts: string[] = [];
  #last = '';

  start(): void {
    watchClients((text) => this.addSecretsIn(text));
    process.on('exit', () => this.#end());
  }

  addSecret(secret: Secret): void {
    // Every text contains an empty value.
    if (secret.value === '') return;
    this.#secrets.set(secret.value, secret);
  }

  addSecretsIn(text: string): void {
    // Concurrent requests often repeat the same text.
    if (text === this.#last) return;
    this.#last = text;
    for (const secret of findSecrets(text)) this.addSecret(secret);
  }

  addText(text: string): void {
    this.#texts.push(text);
  }

  #end(): void {
    const secrets = [...this.#secrets.values()].flatMap(splitSecret);
    const text = this.#texts.map((each) => (each.endsWith('\n') ? each : `${each}\n`)).join('');
    const found = new SecretSearch(secrets).find(text);
    for (const { kind, line } of found) console.error(`The log or output contains a ${kind}: ${line}`);
    if (found.length > 0) process.exitCode = 1;
    const folder = process.env[folderVariable];
    if (!folder) return;
    storeRecord(folder, { file: relative('', process.argv[1] ?? ''), secrets }, text);
  }
}

/** Stores a record for the search over all processes of a run. */
export function storeRecord(folder: string, stored: StoredRecord, log: string): void {
  const name = join(folder, `${stored.file.replaceAll(/\W/g, '-')}-${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${name}.json`, JSON.stringify(stored));
  writeFileSync(`${name}.log`, log);
}

let record: SecretRecord | undefined;

function getRecord(): SecretRecord | undefined {
  if (!isTestProcess) return undefined;
  if (!record) {
    record = new SecretRecord();
    record.start();
  }
  return record;
}

/** Records the log of a server or the output of a program. */
export function recordLog(text: string): void {
  getRecord()?.addText(text);
}

/** Records the secrets of requests that are sent without `fetch` and `ws`. */
export function recordSecretsIn(text: string): void {
  getRecord()?.addSecretsIn(text);
}

/** Records a secret that no field name reveals, for example a one-time code. */
export function recordSecret(kind: string, value: string): void {
  getRecord()?.addSecret({ kind, value });
}

/** Records the secrets in the settings of a server. The names may have the prefix `ESPALIER_`. */
export function recordSettings(settings: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    if (/_PASSWORD$/.test(name)) getRecord()?.addSecret({ kind: 'password', value });
    if (/_SECRET$/.test(name)) getRecord()?.addSecret({ kind: 'secret of a client', value });
    if (/_API_KEY$/.test(name)) getRecord()?.addSecret({ kind: 'API key', value });
    else if (/_KEY$/.test(name)) getRecord()?.addSecret({ kind: 'master key', value });
    if (/_CLIENT$/.test(name)) getRecord()?.addSecret({ kind: 'password of a client', value });
    if (/_URL$/.test(name) && URL.canParse(value)) {
      const { password } = new URL(value);
      getRecord()?.addSecret({ kind: 'password of a database', value: decodeURIComponent(password) });
    }
  }
}

/** A new API key: alone on a line, or as the property `key`. */
const newApiKeys = /^(esp_[\dA-Za-z]{54})$|(?<="key": ?")(esp_[\dA-Za-z]{54})(?=")/gm;

/** Records the output of a program. A generated password or a new API key may appear only in the line that reports it. */
export function recordOutput(text: string): void {
  for (const [value] of text.matchAll(newApiKeys)) getRecord()?.addSecret({ kind: 'API key', value });
  const output = text.replace(newApiKeys, '');
  const [, password] = /^ +Password +(\S+) +\(shown only this once\)$/m.exec(output) ?? [];
  if (password) getRecord()?.addSecret({ kind: 'generated password', value: password });
  recordLog(output.replace(/^ +Password +\S+ +\(shown only this once\)$/gm, ''));
}

const secretPaths = /\/login(\/(refresh|passkey|sso|enrolment(\/confirm)?))?$/;
/** The mutations that return secrets of second factors. */
const secretMutations = /startTotpEnrolment|confirmTotpEnrolment|finishPasskeyEnrolment|createRecoveryCodes/;

/** Records all that `fetch` and sockets send, and the tokens and secrets in responses. */
function watchClients(onText: (text: string) => void): void {
  const originalFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const body = readText(init?.body);
    onText(body + readAuthorization(init?.headers));
    const response = await originalFetch(input, init);
    if (secretPaths.test(new URL(response.url).pathname) || secretMutations.test(body))
      onText(await response.clone().text());
    return response;
  };
  // oxlint-disable-next-line typescript/unbound-method -- called with the socket below
  const originalSend = WebSocket.prototype.send as (this: WebSocket, ...args: unknown[]) => void;
  WebSocket.prototype.send = function (this: WebSocket, ...args: unknown[]) {
    const text = readText(args[0]);
    // Clients and servers run in this process, and most socket messages are responses.
    if (/authorization/i.test(text)) onText(text);
    originalSend.apply(this, args);
  };
}

export function readText(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}

export function readAuthorization(headers: RequestInit['headers']): string {
  return new Headers(headers).get('authorization') ?? '';
}
