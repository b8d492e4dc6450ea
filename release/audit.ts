/**
 * `npm run check:audit`: known vulnerabilities of the packages that a release ships. Fails on a high or critical one that is
 * no exception. If the audit service cannot be reached, it prints that nothing was checked; with --required, which a
 * release uses, it also fails.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedDependencies } from './shipped-dependencies.ts';

export interface Exception {
  /** The address of the advisory. */
  readonly advisory: string;
  /** Why it does not concern us. */
  readonly reason: string;
  /** The last day on which it holds: `2027-01-31`. */
  readonly until: string;
}

interface Advisory {
  readonly url: string;
  readonly title: string;
  readonly severity: string;
}

interface Report {
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly name: string; readonly via: readonly (Advisory | string)[] }>
  >;
}

export interface Judgement {
  /** False if the audit service gave no usable answer. */
  readonly wasAudited: boolean;
  readonly isClean: boolean;
  readonly lines: readonly string[];
}

/** A release may wait longer than a check that runs many times a day. */
const releasePatienceMs = 60_000;
const grave = new Set(['high', 'critical']);

/** What `npm audit --json` has printed, if anything, of the packages with these names, judged on that day. */
export function judge(
  printed: string | undefined,
  names: ReadonlySet<string>,
  exceptions: readonly Exception[],
  today: string,
): Judgement {
  const report = parsed(printed);
  if (!report?.vulnerabilities) {
    const why = report?.message ?? report?.error?.summary ?? 'it did not answer in time';
    const line = `NOT AUDITED: the audit service of the npm registry could not be reached (${why}). No package was checked for known vulnerabilities.`;
    return { wasAudited: false, isClean: true, lines: [line] };
  }
  const excepted = new Set(exceptions.filter(({ until }) => until >= today).map(({ advisory }) => advisory));
  const ofThem = Object.values(report.vulnerabilities).filter(({ name }) => names.has(name));
  const found = ofThem.flatMap(({ name, via }) =>
    via
      .filter((each) => typeof each !== 'string')
      .filter(({ severity, url }) => grave.has(severity) && !excepted.has(url))
      .map(({ severity, title, url }) => `${name} has a ${severity} advisory: ${title} (${url})`),
  );
  if (found.length === 0) return { wasAudited: true, isClean: true, lines: [] };
  const help =
    'Update the package. If it does not concern us, say why and until when in release/audit-exceptions.json.';
  return { wasAudited: true, isClean: false, lines: [...new Set(found), help] };
}

function parsed(printed: string | undefined): Report | undefined {
  try {
    return JSON.parse(printed ?? '') as Report;
  } catch {
    return undefined;
  }
}

/** Of all packages: what is built into the console is none that npm would install. Nothing, if it takes too long. */
export async function askRegistry(
  root: string,
  command = 'npm',
  patienceMs = 4_500,
): Promise<string | undefined> {
  const args = ['audit', '--json', '--fetch-retries=0', `--fetch-timeout=${patienceMs}`];
  const npm = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  npm.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const late = setTimeout(() => npm.kill('SIGKILL'), patienceMs);
  const hasEnded = await new Promise<boolean>((resolve) => {
    npm.on('close', (_code, signal) => resolve(signal === null));
    npm.on('error', () => resolve(false));
  });
  clearTimeout(late);
  return hasEnded ? printed : undefined;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(import.meta.dirname, 'audit-exceptions.json');
  const exceptions = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Exception[]) : [];
  const names = new Set([...shippedDependencies(root).values()].map(({ name }) => name));
  const today = new Date().toISOString().slice(0, 10);
  const isRequired = process.argv.includes('--required');
  const printed = await (isRequired ? askRegistry(root, 'npm', releasePatienceMs) : askRegistry(root));
  const { wasAudited, isClean, lines } = judge(printed, names, exceptions, today);
  for (const line of lines) console.error(line);
  if (!isClean || (isRequired && !wasAudited)) process.exitCode = 1;
}
