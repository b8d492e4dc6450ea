/** Creates the page of all metrics: the metrics of the catalog, and the metrics of the process from prom-client. */

import { catalog, type MetricDescription } from '../../server/src/observability/metric-catalog.ts';
import { Metrics } from '../../server/src/observability/metrics.ts';

const introduction = `<!-- Made by npm run generate. -->

# Metrics

Collect the metrics of your server with [Prometheus](https://prometheus.io), and look up the meaning of each metric.

## Turn on metrics

Set \`ESPALIER_METRICS_PORT\`. The server then publishes its metrics on this port at \`/metrics\`, in the Prometheus text format 0.0.4:

\`\`\`sh
ESPALIER_METRICS_PORT=9464 npm start
\`\`\`

Then add a job to the configuration of Prometheus:

\`\`\`yaml
scrape_configs:
  - job_name: espalier
    static_configs:
      - targets:
          - 127.0.0.1:9464
\`\`\`

The port listens on \`127.0.0.1\`. To change the address, set \`ESPALIER_METRICS_HOST\`. The port requires no token: every program that can connect
to it can read the metrics. They contain no names, ids or addresses of users.

You can import [deploy/grafana-dashboard.json](../../deploy/grafana-dashboard.json) into Grafana, and load the example alerts from
[deploy/alert-rules.yaml](../../deploy/alert-rules.yaml) into Prometheus. [Monitoring](../operators/monitoring.md) shows the first steps.

With several [workers](../operators/several-nodes.md#use-more-cores-of-one-machine), one port publishes the metrics of all workers. Each value is the sum of their values unless this page states otherwise.

## Example queries

\`\`\`text
# Requests per second
sum(rate(espalier_http_request_duration_seconds_count[5m]))

# The time within which 95 % of the requests complete, by route
histogram_quantile(0.95, sum by (le, route) (rate(espalier_http_request_duration_seconds_bucket[5m])))

# Failed logins in the last hour
sum(increase(espalier_logins_total{outcome!="ok"}[1h]))

# Hours since the newest backup
(time() - espalier_backup_last_success_timestamp_seconds) / 3600
\`\`\`

## Metrics of Espalier

`;

export async function createMetricsReference(
  metrics: Readonly<Record<string, MetricDescription>> = catalog,
): Promise<string> {
  const catalogMetrics = Object.values(metrics);
  const samples = await new Metrics({ login: '/login', refresh: '/login/refresh' }).samples();
  const processMetrics = samples.filter(({ name }) => !catalogMetrics.some((each) => each.name === name));
  return `${introduction}${catalogMetrics.map(formatMetric).join('\n')}
## Metrics of the process

These metrics describe the Node.js process. With several workers, the event loop delays are the values of the slowest worker, and the start time is the
value of the first worker. All other values are sums. The primary process, which starts and stops the workers, is not included.

| Name | Type | Meaning |
| --- | --- | --- |
${processMetrics.map(({ name, type, help }) => `| \`${name}\` | ${String(type)} | ${help} |`).join('\n')}
`;
}

function formatMetric({ name, type, help, labels = {}, bounds, aggregation }: MetricDescription): string {
  const facts = [
    ...Object.entries(labels).map(([label, meaning]) => `- Label \`${label}\`: ${meaning}.`),
    ...(bounds ? [`- Buckets up to: ${bounds.join(', ')}.`] : []),
    ...(aggregation ? [`- With several workers: ${aggregationTexts[aggregation]}.`] : []),
  ];
  return `### ${name}

**${capitalize(type)}**: ${linkPages(help)}

${facts.join('\n')}
`;
}

const capitalize = (text: string) => text[0]!.toUpperCase() + text.slice(1);

/** Help texts contain the command that prints a page instead of a link, because Prometheus displays them as well. */
const linkPages = (help: string) =>
  help
    .replace("'espalier docs probes'", '[Health probes](../operators/probes.md#checks)')
    .replace("'espalier docs limits'", '[Limits](limits.md)');

const aggregationTexts = {
  first: 'the value of the first worker',
  min: 'the smallest value',
  max: 'the largest value',
};
