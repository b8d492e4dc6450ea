/**
 * `npm run check:audit`: runs `npm audit` and fails on a high or critical advisory for a package that a release contains,
 * unless audit-exceptions.json lists it. If the registry cannot be reached, it prints that nothing was checked, and fails
 * only with --required, which a release uses.
 */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readShippedPackages } from './sbom.ts';

export interface Exception {
  /** The URL of the advisory. */
  readonly advisory: string;
  /** Why the advisory does not affect Espalier. */
  readonly reason: string;
  /** The last day of the exception, for example `2027-01-31`. */
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

export interface AuditResult {
  /** False if the registry gave no usable response. */
  readonly wasAudited: boolean;
  readonly isClean: boolean;
  readonly lines: readonly string[];
}

/** A release waits longer than `npm run check`, which runs many times a day. */
const releaseTimeoutMs = 60_000;
const failingSeverities = new Set(['high', 'critical']);

/** Evaluates the output of `npm audit --json` for the packages with these names. `today` decides which exceptions apply. */
export function evaluateAudit(
  output: string | undefined,
  names: ReadonlySet<string>,
  exceptions: readonly Exception[],
  today: string,
): AuditResult {
  const report = parseReport(output);
  if (!report?.vulnerabilities) {
    const why = report?.message ?? report?.error?.summary ?? 'it did not answer in time';
    const line = `NOT AUDITED: the audit service of the npm registry could not be reached (${why}). No package was checked for known vulnerabilities.`;
    return { wasAudited: false, isClean: true, lines: [line] };
  }
  const exceptedUrls = new Set(
    exceptions.filter(({ until }) => until >= today).map(({ advisory }) => advisory),
  );
  const shippedVulnerabilities = Object.values(report.vulnerabilities).filter(({ name }) => names.has(name));
  const failures = shippedVulnerabilities.flatMap(({ name, via }) =>
    via
      .filter((each) => typeof each !== 'string')
      .filter(({ severity, url }) => failingSeverities.has(severity) && !exceptedUrls.has(url))
      .map(({ severity, title, url }) => `${name} has a ${severity} advisory: ${title} (${url})`),
  );
  if (failures.length === 0) return { wasAudited: true, isClean: true, lines: [] };
  const help =
    'Update the package. If the advisory does not affect Espalier, add an exception with a reason and an end date to release/audit-exceptions.json.';
  return { wasAudited: true, isClean: false, lines: [...new Set(failures), help] };
}

function parseReport(output: string | undefined): Report | undefined {
  try {
    return JSON.parse(output ?? '') as Report;
  } catch {
    return undefined;
  }
}

/**
 * Audits all packages, because `--omit=dev` would leave out the packages that the console bundles. Returns undefined after the
 * timeout.
 */
export function runAudit(root: string, command = 'npm', timeoutMs = 4_500): Promise<string | undefined> {
  const args = ['audit', '--json', '--fetch-retries=0', `--fetch-timeout=${timeoutMs}`];
  const options = { cwd: root, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: Infinity } as const;
  // npm exits with 1 if there are advisories.
  return new Promise((resolve) => {
    execFile(command, args, options, (error, output) => resolve(error?.killed ? undefined : output));
  });
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(import.meta.dirname, 'audit-exceptions.json');
  const exceptions = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Exception[]) : [];
  const names = new Set([...readShippedPackages(root).packages.values()].map(({ name }) => name));
  const today = new Date().toISOString().slice(0, 10);
  const isRequired = process.argv.includes('--required');
  const output = await (isRequired ? runAudit(root, 'npm', releaseTimeoutMs) : runAudit(root));
  const { wasAudited, isClean, lines } = evaluateAudit(output, names, exceptions, today);
  for (const line of lines) console.error(line);
  if (!isClean || (isRequired && !wasAudited)) process.exitCode = 1;
}
