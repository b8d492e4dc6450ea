/**
 * What this process's tests used of passwords and tokens, and what the servers that they started logged and printed. When
 * the process ends, the one is looked for in the other; and both are left for whoever does so over all processes.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { WebSocket } from 'ws';
import { partsOf, secretsIn, type Secret } from './secret.ts';
import { SecretSearch } from './secret-search.ts';

/** Where the processes of one run leave what they found; each for itself if there is none. */
export const folderVariable = 'ESPALIER_TEST_SECRETS';

/** Set by `node --test`. Measurements that use the same servers are left alone. */
export const isTestProcess = process.env['NODE_TEST_CONTEXT'] !== undefined;

export interface LeftRecord {
  readonly file: string;
  readonly secrets: readonly Secret[];
}

class SecretRecord {
  readonly #secrets = new Map<string, Secret>();
  readonly #texts: string[] = [];
  #last = '';

  begin(): void {
    watchClients((text) => this.noteIn(text));
    process.on('exit', () => this.#end());
  }

  note(secret: Secret): void {
    this.#secrets.set(secret.value, secret);
  }

  noteIn(text: string): void {
    // Whoever races sends the same many times.
    if (text === this.#last) return;
    this.#last = text;
    for (const secret of secretsIn(text)) this.note(secret);
  }

  keep(text: string): void {
    this.#texts.push(text);
  }

  #end(): void {
    const secrets = [...this.#secrets.values()].flatMap(partsOf);
    const text = this.#texts.map((each) => (each.endsWith('\n') ? each : `${each}\n`)).join('');
    const found = new SecretSearch(secrets).find(text);
    for (const { kind, line } of found) console.error(`A log or an output holds a ${kind}: ${line}`);
    if (found.length > 0) process.exitCode = 1;
    const folder = process.env[folderVariable];
    if (!folder) return;
    leaveRecord(folder, { file: relative('', process.argv[1] ?? ''), secrets }, text);
  }
}

/** For a search over all processes of a run. */
export function leaveRecord(folder: string, left: LeftRecord, log: string): void {
  const name = join(folder, `${left.file.replaceAll(/\W/g, '-')}-${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${name}.json`, JSON.stringify(left));
  writeFileSync(`${name}.log`, log);
}

let record: SecretRecord | undefined;

function recordOfProcess(): SecretRecord | undefined {
  if (!isTestProcess) return undefined;
  if (!record) {
    record = new SecretRecord();
    record.begin();
  }
  return record;
}

/** What a server has logged, or a program printed. */
export function keepLog(text: string): void {
  recordOfProcess()?.keep(text);
}

/** What is sent by other ways than those that are watched by themselves. */
export function noteSecretsIn(text: string): void {
  recordOfProcess()?.noteIn(text);
}

/** Those among a server's settings, which are named without their prefix or with it. */
export function noteSettings(settings: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    if (/_PASSWORD$/.test(name)) recordOfProcess()?.note({ kind: 'password', value });
    if (/_KEY$/.test(name)) recordOfProcess()?.note({ kind: 'master key', value });
    if (/_CLIENT$/.test(name)) recordOfProcess()?.note({ kind: 'password of a client', value });
    if (/_URL$/.test(name) && URL.canParse(value)) {
      const { password } = new URL(value);
      recordOfProcess()?.note({ kind: 'password of a database', value: decodeURIComponent(password) });
    }
  }
}

/** What a program printed: a generated password may stand in the lines of the first start, and nowhere else. */
export function keepOutput(output: string): void {
  const [, password] = /^ +Password +(\S+) +\(shown only this once\)$/m.exec(output) ?? [];
  if (password) recordOfProcess()?.note({ kind: 'generated password', value: password });
  keepLog(output.replace(/^ +(Password +\S+ +\(shown only this once\)|TOKEN=.*)$/gm, ''));
}

/** All that is sent by `fetch` and over sockets, and the tokens of answers. */
function watchClients(tell: (text: string) => void): void {
  const plainFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    tell(textOf(init?.body) + headersOf(init?.headers));
    const response = await plainFetch(input, init);
    if (/\/login(\/refresh)?$/.test(new URL(response.url).pathname)) tell(await response.clone().text());
    return response;
  };
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the socket below
  const plainSend = WebSocket.prototype.send as (this: WebSocket, ...args: unknown[]) => void;
  WebSocket.prototype.send = function (this: WebSocket, ...args: unknown[]) {
    const text = textOf(args[0]);
    // Both ends of all sockets are here: most of what they send is answers.
    if (/authorization/i.test(text)) tell(text);
    plainSend.apply(this, args);
  };
}

export function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}

export function headersOf(headers: RequestInit['headers']): string {
  return new Headers(headers).get('authorization') ?? '';
}
