/** Prints entries as they arrive: as lines, CSV, a JSON array, or one JSON object per line. */

import { journalCsvHeader, formatJournalCsvRow } from '@espalier/contract';
import { formatJson, print } from '../terminal/output.ts';
import { heading, toLine, type Entry } from './entry.ts';

export type EntryFormat = 'lines' | 'csv' | 'json' | 'ndjson';

export class EntryWriter {
  readonly #format: EntryFormat;
  #isFirst = true;

  constructor(format: EntryFormat) {
    this.#format = format;
  }

  async write(entries: readonly Entry[]): Promise<void> {
    const lines = [...this.#head(), ...entries.map((entry) => this.#line(entry))];
    if (lines.length > 0) await print(lines.join('\n'));
  }

  async end(): Promise<void> {
    if (this.#format === 'json') await print(this.#isFirst ? '[]' : ']');
  }

  #head(): string[] {
    if (!this.#isFirst || this.#format === 'json' || this.#format === 'ndjson') return [];
    this.#isFirst = false;
    return [this.#format === 'csv' ? journalCsvHeader : heading];
  }

  #line(entry: Entry): string {
    if (this.#format === 'lines') return toLine(entry);
    if (this.#format === 'csv') return formatJournalCsvRow(entry);
    if (this.#format === 'ndjson') return formatJson(entry);
    const opening = this.#isFirst ? '[' : ',';
    this.#isFirst = false;
    return opening + formatJson(entry);
  }
}
