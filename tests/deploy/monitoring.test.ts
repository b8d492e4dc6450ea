/** Checks that the dashboard and the alerts use existing metrics with existing labels. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { catalog, type MetricDescription } from '../../server/src/observability/metric-catalog.ts';
import { Metrics } from '../../server/src/observability/metrics.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const read = (file: string) => readFileSync(join(deploy, file), 'utf8');

interface Dashboard {
  readonly panels: readonly { readonly id: number; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: unknown }[] };
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}

/** Names that Prometheus adds. */
const prometheusNames = { names: ['up'], labels: ['instance', 'job', 'le'] };

describe('the monitoring files in deploy/', () => {
  const descriptions = new Map<string, MetricDescription>(
    Object.values<MetricDescription>(catalog).flatMap((each) =>
      (each.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map((ending) => [
        each.name + ending,
        each,
      ]),
    ),
  );
  let metricNames: Set<string>;
  before(async () => {
    const samples = await new Metrics({ login: '/login', refresh: '/login/refresh' }).samples();
    metricNames = new Set([
      ...descriptions.keys(),
      ...samples.map(({ name }) => name),
      ...prometheusNames.names,
    ]);
  });

  const assertMetricsExist = (expression: string) => {
    const names = expression.match(/\b(espalier|nodejs|process)_\w+|\bup\b/g) ?? [];
    assert.ok(names.length > 0, `no metric in ${expression}`);
    for (const name of names) assert.ok(metricNames.has(name), `${name} is not a metric`);
    const labels = names.flatMap((name) => Object.keys(descriptions.get(name)?.labels ?? {}));
    const [...filters] = expression.matchAll(/[{,] ?(\w+)(?:=~|!=|=)"/g);
    const [...groups] = expression.matchAll(/by \(([\w, ]+)\)/g);
    for (const label of [
      ...filters.map(([, label]) => label!),
      ...groups.flatMap(([, list]) => list!.split(', ')),
    ]) {
      assert.ok([...labels, ...prometheusNames.labels].includes(label), `${label} in ${expression}`);
    }
  };

  test('contain a dashboard with existing metrics', () => {
    const { panels, templating } = JSON.parse(read('grafana-dashboard.json')) as Dashboard;
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { expr } of panels.flatMap(({ targets }) => targets)) assertMetricsExist(expr);
    assert.match(JSON.stringify(templating), /label_values\(espalier_ready, instance\)/);
  });

  test('contain a dashboard with all metrics except build info and backup failures', () => {
    const text = read('grafana-dashboard.json');
    const onDashboard = Object.values<MetricDescription>(catalog).filter(({ name }) => text.includes(name));
    const missing = Object.values<MetricDescription>(catalog).filter((each) => !onDashboard.includes(each));
    assert.deepEqual(
      missing.map(({ name }) => name),
      ['espalier_build_info', 'espalier_backup_failures_total'],
    );
  });

  test('contain alerts with existing metrics and with instructions', () => {
    const { groups } = parse(read('alert-rules.yaml')) as Rules;
    const rules = groups.flatMap((group) => group.rules);
    assert.ok(rules.length > 0);
    for (const { expr, annotations } of rules) {
      assertMetricsExist(expr);
      assert.ok(annotations.summary && annotations.description);
    }
  });
});
