/** Settings of metrics and traces. */

import { setting } from './setting.ts';
import { headerPairs, hostName, share, tracesUrl, wholeNumber } from './setting-values.ts';

export const metricsSettings = {
  metricsPort: setting({
    name: 'METRICS_PORT',
    about:
      'A port of its own for [metrics](metrics.md), in the text format of Prometheus, at `/metrics`. Without it there are none; 0 picks a free one and prints it.',
    accepts: 'a whole number from 0 to 65535',
    parse: wholeNumber(0, 65_535),
  }),
  metricsHost: setting({
    name: 'METRICS_HOST',
    about:
      'The address of that port. Whoever reaches it can read the metrics, without a token: beyond loopback, see to it that only Prometheus does.',
    accepts: 'a host name or an IP address',
    default: '127.0.0.1',
    onlyWith: 'METRICS_PORT',
    parse: hostName,
  }),
};

export const traceSettings = {
  tracesUrl: setting({
    name: 'TRACES_URL',
    about:
      'Where traces are sent, by OpenTelemetry’s protocol over HTTP, as JSON. Without it, none are made.',
    accepts:
      'an http or https address without a password, such as http://127.0.0.1:4318/v1/traces; without a path it is that of a collector, and /v1/traces is added',
    parse: tracesUrl,
  }),
  tracesShare: setting({
    name: 'TRACES_SHARE',
    about: 'Of all requests, how many are traced; a request whose traceparent says so decides for itself.',
    accepts: 'a number from 0 to 1',
    default: '1',
    onlyWith: 'TRACES_URL',
    parse: share,
  }),
  tracesHeaders: setting({
    name: 'TRACES_HEADERS',
    about: 'Headers that go with the traces, for a collector that wants to know who sends them.',
    accepts:
      'name=value, several with a comma between them, with special characters of the values percent-encoded, and none that a header cannot hold, such as a line break',
    onlyWith: 'TRACES_URL',
    mayBeFile: true,
    isSecret: true,
    parse: headerPairs,
  }),
};
