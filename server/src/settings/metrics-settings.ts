/** Where the node tells Prometheus how it is. */

import { setting } from './setting.ts';
import { hostName, wholeNumber } from './setting-values.ts';

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
