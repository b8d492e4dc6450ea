/**
 * Debian's nginx with deploy/nginx.conf as it is, in front of nodes on this machine: only addresses, ports, files and
 * the user are others. Nobody else can reach it.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { requireProgram } from '../runner/debian-packages.ts';
import { eventually } from '../support/eventually.ts';
import { findFreePort } from '../support/free-port.ts';

/** A line of its log. */
export interface Passed {
  readonly request: string;
  readonly status: number;
  /** More than one, if it turned to another node. */
  readonly nodes: readonly string[];
  /** The last node that it asked did not answer. */
  readonly isLost: boolean;
}

const published = join(import.meta.dirname, '../../deploy/nginx.conf');
/** What it keeps outside of its memory. */
const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export class Nginx {
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** In front of these two nodes, by their ports. Its certificate is good for this process from now on. */
  static async start(ports: readonly [number, number]): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-nginx-'));
    try {
      const port = await findFreePort();
      await makeCertificate(folder);
      writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, ports));
      checkConfiguration(folder);
      const nginx = new Nginx(folder, port);
      await nginx.#untilServing();
      return nginx;
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  private constructor(folder: string, port: number) {
    this.url = `https://localhost:${port}`;
    this.#folder = folder;
    this.#process = spawn(requireProgram('nginx'), argumentsFor(folder), { stdio: 'ignore' });
    this.#ended = once(this.#process, 'exit');
  }

  /** Of what has been answered; of sockets and streams, what has ended. */
  get passed(): Passed[] {
    const lines = readFileSync(join(this.#folder, 'access.log'), 'utf8').trim().split('\n');
    return lines.filter(Boolean).map((line) => {
      const [, request = '', status, nodes = '', last] =
        /"([A-Z]+ [^"]+)" (\d+) \d+ [\d.]+s by (.+?) (?:[\d-]+, )*([\d-]+)$/.exec(line) ?? [];
      if (!request) throw new Error(`This is no line of the log: ${line}`);
      return { request, status: Number(status), nodes: nodes.split(', '), isLost: last === '502' };
    });
  }

  /** What it has complained of. */
  get complaints(): string {
    return readFileSync(join(this.#folder, 'error.log'), 'utf8');
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#ended;
    rmSync(this.#folder, { recursive: true });
  }

  async #untilServing(): Promise<void> {
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`nginx did not start: ${this.complaints}`);
      return fetch(`${this.url}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    }, 'nginx serves');
  }
}

async function makeCertificate(folder: string): Promise<void> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  writeFileSync(join(folder, 'fullchain.pem'), cert);
  writeFileSync(join(folder, 'privkey.pem'), key, { mode: 0o600 });
  setDefaultCACertificates([...getCACertificates('default'), cert]);
}

/** Whatever is replaced has to be there, once. */
function configuration(folder: string, port: number, [one, two]: readonly [number, number]): string {
  const paths = temporary.map((each) => `  ${each}_temp_path ${join(folder, 'temporary', each)};\n`);
  const replaced: [string, string][] = [
    ['http {\n', `http {\n${paths.join('')}`],
    ['server 10.0.0.11:8080 ', `server 127.0.0.1:${one} `],
    ['server 10.0.0.12:8080 ', `server 127.0.0.1:${two} `],
    ['    listen 443 ', `    listen 127.0.0.1:${port} `],
    ['server_name tree.example.com;', 'server_name localhost;'],
    ['/etc/ssl/espalier/fullchain.pem', join(folder, 'fullchain.pem')],
    ['/etc/ssl/espalier/privkey.pem', join(folder, 'privkey.pem')],
    ['/var/log/nginx/espalier.log', join(folder, 'access.log')],
  ];
  let text = readFileSync(published, 'utf8');
  for (const [before, after] of replaced) {
    const parts = text.split(before);
    if (parts.length !== 2) throw new Error(`deploy/nginx.conf has ${before} ${parts.length - 1} times.`);
    text = parts.join(after);
  }
  mkdirSync(join(folder, 'temporary'));
  return text;
}

/** As an operator is told to. */
function checkConfiguration(folder: string): void {
  const { status, stderr } = spawnSync(requireProgram('nginx'), ['-t', ...argumentsFor(folder)], {
    encoding: 'utf8',
  });
  if (status !== 0 || /\[(warn|error|alert|emerg)\]/.test(stderr)) throw new Error(`nginx -t: ${stderr}`);
}

function argumentsFor(folder: string): string[] {
  const own = ['daemon off;', `pid ${join(folder, 'pid')};`];
  // Who is not root is told that this means nothing.
  if (process.getuid?.() === 0) own.push('user root;');
  return [
    '-p',
    folder,
    '-c',
    join(folder, 'nginx.conf'),
    '-e',
    join(folder, 'error.log'),
    '-g',
    own.join(' '),
  ];
}
