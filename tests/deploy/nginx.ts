/**
 * Debian's nginx with a published configuration in front of nodes on this machine: deploy/nginx.conf for two nodes, or
 * the configuration of docs/operators/reverse-proxy.md for one node. Only addresses, ports, files and the user differ.
 * It listens on loopback only.
 */

import { randomUUID } from 'node:crypto';
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
import { readPage } from '../docs/page-steps.ts';

/** A line of the access log. */
export interface ProxiedRequest {
  readonly request: string;
  readonly status: number;
  /** Several nodes if nginx retried the request at another node. */
  readonly nodes: readonly string[];
  /** Whether the last node did not respond. */
  readonly isLost: boolean;
}

const root = join(import.meta.dirname, '../..');
interface Ports {
  readonly https: number;
  readonly http: number;
  readonly nodes: readonly number[];
}

/** Folders for temporary files. */
const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export class Nginx {
  readonly url: string;
  /** The URL that redirects to HTTPS. */
  readonly plainUrl: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** Starts nginx in front of the nodes at one or two ports. This process then trusts the certificate of nginx. */
  static async start(nodePorts: readonly number[]): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-nginx-'));
    try {
      const ports = { https: await findFreePort(), http: await findFreePort(), nodes: nodePorts };
      await makeCertificate(folder);
      writeFileSync(join(folder, 'nginx.conf'), configuration(folder, ports));
      checkConfiguration(folder);
      const nginx = new Nginx(folder, ports);
      try {
        await nginx.#waitUntilServing();
      } catch (error) {
        await nginx.stop();
        throw error;
      }
      return nginx;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(folder: string, { https, http }: Ports) {
    this.url = `https://localhost:${https}`;
    this.plainUrl = `http://localhost:${http}`;
    this.#folder = folder;
    this.#process = spawn(requireProgram('nginx'), argumentsFor(folder), { stdio: 'ignore' });
    this.#ended = once(this.#process, 'exit');
  }

  get certificateFile(): string {
    return join(this.#folder, 'fullchain.pem');
  }

  /** The requests in the access log. nginx logs sockets and streams when they end. */
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
    let lastProblem = 'no response';
    await eventually(async () => {
      if (this.#process.exitCode !== null) throw new Error(`nginx did not start: ${this.errorLog}`);
      return fetch(`${this.url}/livez`).then(
        ({ ok, status }) => {
          if (!ok) lastProblem = String(status);
          return ok;
        },
        (error: Error) => {
          lastProblem = error.cause instanceof Error ? error.cause.message : error.message;
          return false;
        },
      );
    }, 'nginx serves').catch((error: unknown) => {
      throw new Error(`nginx does not serve: ${lastProblem}; ${this.errorLog}`, { cause: error });
    });
  }
}

async function makeCertificate(folder: string): Promise<void> {
  // A unique name, because a process may trust several of these certificates and OpenSSL finds them by name.
  const name = `nginx ${randomUUID()}`;
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  writeFileSync(join(folder, 'fullchain.pem'), cert);
  writeFileSync(join(folder, 'privkey.pem'), key, { mode: 0o600 });
  setDefaultCACertificates([...getCACertificates('default'), cert]);
}

function configuration(folder: string, ports: Ports): string {
  mkdirSync(join(folder, 'temporary'));
  return ports.nodes.length === 1
    ? oneNodeConfiguration(folder, ports)
    : twoNodesConfiguration(folder, ports);
}

function twoNodesConfiguration(folder: string, { https, http, nodes: [one, two] }: Ports): string {
  return replaceOnce(readFileSync(join(root, 'deploy/nginx.conf'), 'utf8'), [
    ['http {\n', `http {\n${temporaryPaths(folder)}`],
    ['server 10.0.0.11:8080 ', `server 127.0.0.1:${one} `],
    ['server 10.0.0.12:8080 ', `server 127.0.0.1:${two} `],
    ['/var/log/nginx/espalier.log', join(folder, 'access.log')],
    ...commonReplacements(folder, { https, http }),
  ]);
}

/** The page describes a file in /etc/nginx/conf.d. Debian's nginx.conf would include this file in its `http` block. */
function oneNodeConfiguration(folder: string, { https, http, nodes: [node] }: Ports): string {
  const { blocks } = readPage(readFileSync(join(root, 'docs/operators/reverse-proxy.md'), 'utf8'));
  const site = replaceOnce(blocks.find(({ language }) => language === 'nginx')!.text, [
    ['server 127.0.0.1:8080;', `server 127.0.0.1:${node};`],
    // The test machine may not have IPv6.
    ['  listen [::]:80;\n', ''],
    ['  listen [::]:443 ssl http2;\n', ''],
    ...commonReplacements(folder, { https, http }),
  ]);
  return `events {}\nhttp {\n${temporaryPaths(folder)}access_log off;\n${site}\n}\n`;
}

const commonReplacements = (folder: string, { https, http }: Omit<Ports, 'nodes'>): [string, string][] => [
  [' listen 80;', ` listen 127.0.0.1:${http};`],
  [' listen 443 ', ` listen 127.0.0.1:${https} `],
  ['/etc/ssl/espalier/fullchain.pem', join(folder, 'fullchain.pem')],
  ['/etc/ssl/espalier/privkey.pem', join(folder, 'privkey.pem')],
];

const temporaryPaths = (folder: string) =>
  temporaryFolders.map((each) => `  ${each}_temp_path ${join(folder, 'temporary', each)};\n`).join('');

/** Replaces texts that must occur exactly once, and the name of the server wherever it occurs. */
function replaceOnce(text: string, replacements: readonly [before: string, after: string][]): string {
  for (const [before, after] of replacements) {
    const parts = text.split(before);
    if (parts.length !== 2) throw new Error(`The configuration has ${before} ${parts.length - 1} times.`);
    text = parts.join(after);
  }
  return text.replaceAll('server_name tree.example.com;', 'server_name localhost;');
}

/** Checks the configuration with `nginx -t`, as the page on reverse proxies says. */
function checkConfiguration(folder: string): void {
  const { status, stderr } = spawnSync(requireProgram('nginx'), ['-t', ...argumentsFor(folder)], {
    encoding: 'utf8',
  });
  if (status !== 0 || /\[(warn|error|alert|emerg)\]/.test(stderr)) throw new Error(`nginx -t: ${stderr}`);
}

function argumentsFor(folder: string): string[] {
  const directives = ['daemon off;', `pid ${join(folder, 'pid')};`];
  // nginx warns about this directive if the user is not root.
  if (process.getuid?.() === 0) directives.push('user root;');
  return [
    '-p',
    folder,
    '-c',
    join(folder, 'nginx.conf'),
    '-e',
    join(folder, 'error.log'),
    '-g',
    directives.join(' '),
  ];
}
