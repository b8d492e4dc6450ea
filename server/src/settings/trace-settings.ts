/** Where traces go, and how many are made. */

import { setting } from './setting.ts';
import { headerPairs, share, tracesUrl } from './setting-values.ts';

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
