/**
 * Debian's nginx with deploy/nginx.conf in front of nodes on this machine. Only addresses, ports, files and the user
 * differ. It listens on loopback only.
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

/** A line of the access log. */
export interface ProxiedRequest {
  readonly request: string;
  readonly status: number;
  /** Several nodes if nginx retried at another one. */
  readonly nodes: readonly string[];
  /** Whether the last node did not answer. */
  readonly isLost: boolean;
}

const published = join(import.meta.dirname, '../../deploy/nginx.conf');
/** Folders for temporary files. */
const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export class Nginx {
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** Starts in front of the nodes at these two ports. This process then trusts its certificate. */
  static async start(ports: readonly [number, number]): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-nginx-'));
    try {
      const port = await findFreePort();
      await makeCertificate(folder);
      writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, ports));
      checkConfiguration(folder);
      const nginx = new Nginx(folder, port);
      await nginx.#waitUntilServing();
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

  /** Logged requests. Sockets and streams are logged when they end. */
  get requests(): ProxiedRequest[] {
    const lines = readFileSync(join(this.#folder, 'access.log'), 'utf8').trim().split('\n');
    return lines.filter(Boolean).map((line) => {
      const [, request = '', status, nodes = '', last] =
        /"([A-Z]+ [^"]+)" (\d+) \d+ [\d.]+s by (.+?) (?:[\d-]+, )*([\d-]+)$/.exec(line) ?? [];
      if (!request) throw new Error(`Invalid log line: ${line}`);
      return { request, status: Number(status), nodes: nodes.split(', '), isLost: last === '502' };
    });
  }

  /** The error log. */
  get errorLog(): string {
    return readFileSync(join(this.#folder, 'error.log'), 'utf8');
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#ended;
    rmSync(this.#folder, { recursive: true });
  }

  async #waitUntilServing(): Promise<void> {
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`nginx did not start: ${this.errorLog}`);
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

/** Every replaced text must occur exactly once. */
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

/** Checks the configuration with the command of the deployment guide. */
function checkConfiguration(folder: string): void {
  const { status, stderr } = spawnSync(requireProgram('nginx'), ['-t', ...argumentsFor(folder)], {
    encoding: 'utf8',
  });
  if (status !== 0 || /\[(warn|error|alert|emerg)\]/.test(stderr)) throw new Error(`nginx -t: ${stderr}`);
}

function argumentsFor(folder: string): string[] {
  const own = ['daemon off;', `pid ${join(folder, 'pid')};`];
  // nginx warns about this directive if the user is not root.
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
