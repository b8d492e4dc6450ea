/**
 * Follows a documentation page literally: in a fresh clone, with a shell for each terminal. Fails at the first command
 * that fails and at output that differs from the page.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { recordOutput, recordSettings } from '../secrets/secret-record.ts';
import { createClone, type CloneOptions } from './fresh-clone.ts';
import { stepsOf, type Step } from './page-steps.ts';
import { matchesOutput } from './matches-output.ts';
import { Terminal } from './terminal.ts';

export interface FollowOptions extends CloneOptions {
  /**
   * A port instead of 8080. It replaces 8080 in commands and expected output, so that several pages can be tested at
   * once.
   */
  readonly port?: number;
  /** Blocks that are not pasted. The caller explains why. */
  readonly skippedBlocks?: readonly string[];
}

export const root = join(import.meta.dirname, '../..');

const testRunVariables =
  /^(ESPALIER_|LC_|NODE_(TEST|COMPILE|OPTIONS|ENV)|npm_(package|lifecycle|config_local_prefix))/;

export async function followPage(page: string, options: FollowOptions): Promise<void> {
  const text = readFileSync(join(root, page), 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'espalier-reader-'));
  const reader = new Reader(folder, options);
  try {
    createClone(join(folder, 'espalier'), options);
    for (const step of stepsOf(options.port ? text.replaceAll('8080', String(options.port)) : text)) {
      try {
        await reader.follow(step);
      } catch (error) {
        throw new Error(`${page}, line ${step.line}: ${(error as Error).message}`, { cause: error });
      }
    }
  } finally {
    await reader.close();
    rmSync(folder, { recursive: true });
  }
}

class Reader {
  readonly #folder: string;
  readonly #scratch: string;
  readonly #options: FollowOptions;
  readonly #terminals = new Map<number, Terminal>();
  readonly #serverTerminals = new Set<Terminal>();
  #lastTerminal: Terminal | undefined;

  constructor(folder: string, options: FollowOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#scratch = join(folder, '.scratch');
    mkdirSync(this.#scratch);
  }

  async follow(step: Step): Promise<void> {
    if (step.kind === 'run') await this.#paste(this.#terminal(step.terminal), step.text, step.stays);
    else if (step.kind === 'see') await assertOutput(this.#terminal(step.terminal), step.text);
    else if (step.kind === 'save')
      writeFileSync(join(this.#lastTerminal!.currentFolder, step.file), `${step.text}\n`);
    else if (step.kind === 'open') assert.equal((await fetch(step.url)).status, 200, step.url);
    else this.#terminal(step.terminal).pressCtrlC();
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals.values()) {
      await terminal.close();
      // The output of commands may contain tokens, but the output of the server must not.
      if (this.#serverTerminals.has(terminal)) recordOutput(terminal.output);
    }
  }

  async #paste(terminal: Terminal, text: string, stays: boolean): Promise<void> {
    this.#lastTerminal = terminal;
    if (this.#options.skippedBlocks?.includes(text)) return;
    const [, password] = /ESPALIER_ADMIN_PASSWORD=(\S+)/.exec(text) ?? [];
    recordSettings({ ESPALIER_ADMIN_PASSWORD: password });
    if (/\bnpm start\b/.test(text)) this.#serverTerminals.add(terminal);
    await terminal.paste(
      this.#options.isInstalled ? withoutRegistry(text) : text,
      text.includes('read -rs') ? this.#readPrintedPassword() : undefined,
    );
    if (!stays) await terminal.finish();
  }

  /** Returns the printed password, which a reader would type. */
  #readPrintedPassword(): string {
    const [, password] = /^ +Password +(\S+) +\(shown only this once\)$/m.exec(this.#terminal(1).output)!;
    return password!;
  }

  #terminal(number: number): Terminal {
    let terminal = this.#terminals.get(number);
    if (!terminal) {
      const folder = join(this.#folder, 'espalier');
      terminal = new Terminal({ folder, scratch: this.#scratch, environment: this.#environment() });
      this.#terminals.set(number, terminal);
    }
    return terminal;
  }

  /**
   * The environment of a reader: without the programs and settings of this run, and with its own folder for sessions.
   */
  #environment(): Record<string, string | undefined> {
    const path = process.env['PATH']!.split(delimiter).filter((entry) => !entry.includes('node_modules'));
    const { port } = this.#options;
    return {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !testRunVariables.test(name))),
      PATH: path.join(delimiter),
      LANG: 'C.UTF-8',
      XDG_CONFIG_HOME: join(this.#scratch, 'config'),
      npm_config_loglevel: 'error',
      npm_config_prefer_offline: 'true',
      ...(port ? { ESPALIER_PORT: String(port) } : {}),
    };
  }
}

/** Replaces `npm install` with links to the installed packages, so that no registry is needed. */
function withoutRegistry(text: string): string {
  const client = 'node_modules/@espalier/client';
  return text
    .replace(/^npm install( && |$)/m, '')
    .replace(
      /^npm install \.\/(espalier-client-\*\.tgz)$/m,
      `mkdir -p ${client} && tar -xzf $1 -C ${client} --strip-components=1 && ln -s ${root}/node_modules/graphql-ws node_modules/`,
    );
}

async function assertOutput(terminal: Terminal, expected: string): Promise<void> {
  const output = await terminal.readOutput((text) => matchesOutput(expected, text));
  if (!matchesOutput(expected, output))
    assert.equal(output.trim(), expected, 'The output differs from the page');
}
