/** Creates the page of all metrics: those of the catalogue, and those that prom-client adds for the process. */

import { catalogue, type MetricDescription } from '../server/src/observability/metric-catalogue.ts';
import { Metrics } from '../server/src/observability/metrics.ts';

export async function createMetricsReference(
  described: Readonly<Record<string, MetricDescription>> = catalogue,
): Promise<string> {
  const own = Object.values(described);
  const samples = await new Metrics({ login: '/login', refresh: '/login/refresh' }).samples();
  const others = samples.filter(({ name }) => !own.some((each) => each.name === name));
  return `<!-- Made by npm run generate. -->

# Metrics

With \`ESPALIER_METRICS_PORT\` a node tells [Prometheus](https://prometheus.io) how it is, at \`/metrics\` of that port, in its text format
0.0.4. The port is on \`127.0.0.1\` unless \`ESPALIER_METRICS_HOST\` says otherwise, and needs no token: whoever reaches it can read it. There
is no name, id or address of anybody in it.

\`\`\`sh
ESPALIER_METRICS_PORT=9464 npm start
\`\`\`

\`\`\`yaml
scrape_configs:
  - job_name: espalier
    static_configs:
      - targets:
          - 127.0.0.1:9464
\`\`\`

[deploy/grafana-dashboard.json](../deploy/grafana-dashboard.json) is a dashboard to import into Grafana, and
[deploy/alert-rules.yaml](../deploy/alert-rules.yaml) are alerts for Prometheus to start from. With several workers one port tells of all of them,
each number added up unless it says otherwise here.

## Of Espalier

${own.map(formatMetric).join('\n')}
## Of the process

With several workers, the event loop delays are those of the slowest worker, and the start time is that of the first. All other values are sums. The
primary, which starts and stops the workers, is not included.

| Name | Type | Meaning |
| --- | --- | --- |
${others.map(({ name, type, help }) => `| \`${name}\` | ${String(type)} | ${help} |`).join('\n')}
`;
}

function formatMetric({ name, type, help, labels = {}, bounds, aggregation }: MetricDescription): string {
  const facts = [
    ...Object.entries(labels).map(([label, meaning]) => `- Label \`${label}\`: ${meaning}.`),
    ...(bounds ? [`- Buckets up to: ${bounds.join(', ')}.`] : []),
    ...(aggregation ? [`- Of several workers: ${aggregationTexts[aggregation]}.`] : []),
  ];
  return `### ${name}

A ${type}. ${help}

${facts.join('\n')}
`;
}

const aggregationTexts = { first: 'that of the first', min: 'the least', max: 'the greatest' };
