/** Searches the logs of all processes of a test run for the secrets of all of them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredRecord } from './secret-record.ts';
import { SecretSearch } from './secret-search.ts';

export interface SuiteSearch {
  readonly isClean: boolean;
  readonly report: string;
}

export function searchSuite(folder: string): SuiteSearch {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const records = names.map((name) => ({
    ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as StoredRecord),
    log: join(folder, name.replace(/json$/, 'log')),
  }));
  const search = new SecretSearch(records.flatMap(({ secrets }) => secrets));
  const findings: string[] = [];
  let lines = 0;
  for (const { file, log } of records) {
    const text = readFileSync(log, 'utf8');
    lines += text.split('\n').length - 1;
    for (const { kind, line } of search.find(text)) findings.push(`${file}: a ${kind} in: ${line}`);
  }
  const searched = `${lines} log lines searched for ${search.size} secrets`;
  if (findings.length === 0) return { isClean: true, report: `\n${searched}: none found\n` };
  return { isClean: false, report: `\n${searched}: ${findings.length} found\n${findings.join('\n')}\n` };
}
