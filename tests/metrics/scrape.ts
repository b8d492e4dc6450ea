/** Metrics as Prometheus reads them: validated by an independent parser of the text format. */

import assert from 'node:assert/strict';
import parse, { type Family } from 'parse-prometheus-text-format';

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
const sampleLine = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"/g;

export class Scrape {
  readonly families: ReadonlyMap<string, Family>;
  readonly #samples: readonly Sample[];

  static async of(url: string): Promise<Scrape> {
    const answer = await fetch(url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    return new Scrape(await answer.text());
  }

  private constructor(text: string) {
    this.families = new Map(parse(text).map((family) => [family.name, family]));
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
    this.#samples = lines.map((line) => {
      const [, name, labels = '', value] = sampleLine.exec(line) ?? assert.fail(`no sample: ${line}`);
      const entries = [...labels.matchAll(label)].map(([, key, value]) => [key!, value!]);
      return { name: name!, labels: Object.fromEntries(entries) as Labels, value: Number(value) };
    });
  }

  /** The value of a counter or gauge, or the count of a histogram; undefined if it does not exist. */
  number(name: string, labels: Labels = {}): number | undefined {
    const names = [name, `${name}_count`];
    const matches = (sample: Sample) =>
      names.includes(sample.name) &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
    return this.#samples.find(matches)?.value;
  }
}
