/** Runs one doctor check at a fixed time and returns one line per finding. */

import { createCheckContext, type Finding } from '../../../server/src/cli/doctor/check-context.ts';
import { readSettings } from '../../../server/src/config/config.ts';

export interface CheckInput {
  /** Settings without their prefix. */
  readonly settings: Readonly<Record<string, string>>;
  readonly url?: string | undefined;
}

type Check = (context: ReturnType<typeof createCheckContext>) => AsyncIterable<Finding> | Iterable<Finding>;

const now = Date.parse('2026-03-02T12:00:00Z');

export async function runDoctorCheck(check: Check, { settings, url }: CheckInput): Promise<string[]> {
  const environment = Object.fromEntries(
    Object.entries({ PORT: '0', ...settings }).map(([name, value]) => [`ESPALIER_${name}`, value]),
  );
  const read = readSettings({ environment }).settings;
  const lines: string[] = [];
  for await (const { state, text, fix } of check(
    createCheckContext({ clock: { now: () => now }, flags: {}, settings: read, url }),
  )) {
    lines.push(`${state}: ${text}${fix === undefined ? '' : ` Fix: ${fix}`}`);
  }
  return lines;
}
