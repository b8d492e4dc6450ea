/** Creates the page of all metrics: those of the catalogue, and those that prom-client adds for the process. */

import { catalogue, type MetricDescription } from '../../server/src/observability/metric-catalogue.ts';
import { Metrics } from '../../server/src/observability/metrics.ts';

export async function createMetricsReference(
  described: Readonly<Record<string, MetricDescription>> = catalogue,
): Promise<string> {
  const own = Object.values(described);
  const samples = await new Metrics({ login: '/login', refresh: '/login/refresh' }).samples();
  const others = samples.filter(({ name }) => !own.some((each) => each.name === name));
  return `<!-- Made by npm run generate. -->

# Metrics

Set \`ESPALIER_METRICS_PORT\` to publish metrics for [Prometheus](https://prometheus.io) at \`/metrics\` of that port, in its text format 0.0.4.
The port is on \`127.0.0.1\` unless you set \`ESPALIER_METRICS_HOST\`. It requires no token: every program that can connect to the port can read
the metrics. They contain no name, id or address of a user.

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

[deploy/grafana-dashboard.json](../../deploy/grafana-dashboard.json) is a dashboard for Grafana, and
[deploy/alert-rules.yaml](../../deploy/alert-rules.yaml) contains example alerts for Prometheus. With several workers, one port publishes the metrics
of all of them. Each value is the sum of all workers unless this page states otherwise.

## Metrics of Espalier

${own.map(formatMetric).join('\n')}
## Metrics of the process

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
    ...(aggregation ? [`- With several workers: ${aggregationTexts[aggregation]}.`] : []),
  ];
  return `### ${name}

A ${type}. ${help}

${facts.join('\n')}
`;
}

const aggregationTexts = {
  first: 'the value of the first worker',
  min: 'the smallest value',
  max: 'the largest value',
};
