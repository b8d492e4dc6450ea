/** Settings of the network, of metrics and traces, of the first start and the log, and of the commands that call a server. */

import {
  basePath,
  headerPairs,
  hostName,
  onOrOff,
  oneOf,
  optionalSetting,
  origins,
  port,
  serverUrl,
  setting,
  share,
  text,
  tracesUrl,
  trueOrFalse,
  trustedProxies,
  wholeNumber,
} from './setting.ts';

const pemFile = text('the path of a PEM file');

export const networkSettings = {
  host: setting('HOST', hostName, '127.0.0.1', {
    about: 'The address to listen on. For any address except loopback, use TLS, here or in a proxy.',
  }),
  port: setting('PORT', port, '8080', {
    about: 'The port to listen on. 0 selects a free port and prints it.',
  }),
  workers: setting('WORKERS', wholeNumber(1, 64), '1', {
    about:
      'The number of worker processes that serve the port with the same database, at most the number of free cores. With more than one, an additional process starts and stops them. More than one needs a system with `SO_REUSEPORT`, for example Linux.',
  }),
  basePath: setting('BASE_PATH', basePath, '/', {
    about: 'The path of all endpoints, for a proxy that forwards only the requests under one path.',
  }),
  tlsCertFile: optionalSetting('TLS_CERT_FILE', pemFile, {
    about: 'The certificate chain, to serve https and wss directly. It needs the private key as well.',
  }),
  tlsKeyFile: optionalSetting('TLS_KEY_FILE', pemFile, {
    about: 'The private key of that certificate.',
  }),
  trustProxy: setting('TRUST_PROXY', trustedProxies, 'false', {
    about:
      'The proxies whose `X-Forwarded-For` header is used as the client address in the log, in sessions and in the login throttle: none (false), any (true), a number of hops, or these addresses. The server warns of true and of ranges wider than /24 (IPv4) or /64 (IPv6).',
  }),
  corsOrigins: setting('CORS_ORIGINS', origins, '', {
    about:
      'The origins of web pages that may call the server from a browser and open sockets. * allows all. By default, only pages of the server’s own origin may.',
  }),
  console: setting('CONSOLE', onOrOff, 'on', {
    about: 'Serves the web console at `/console`. If it is off, this address does not exist.',
  }),
  stopSeconds: setting('STOP_SECONDS', wholeNumber(1, 3_600), '10', {
    about: 'The time for requests to finish when the server stops. Requests that take longer are aborted.',
  }),
  stopDelaySeconds: setting('STOP_DELAY_SECONDS', wholeNumber(0, 600), '0', {
    about:
      'The time before that in which the port stays open and `/readyz` returns 503, so that load balancers switch to other nodes first. For example, use 5 if the load balancer checks every two seconds.',
  }),
};

export const metricsSettings = {
  metricsPort: optionalSetting('METRICS_PORT', port, {
    about:
      'A separate port that serves [metrics](metrics.md) in the Prometheus text format at `/metrics`. Without it, the server has no metrics. 0 selects a free port and prints it.',
  }),
  metricsHost: setting('METRICS_HOST', hostName, '127.0.0.1', {
    about:
      'The address of that port. Metrics need no token: for any address except loopback, make sure that only Prometheus can connect.',
    onlyWith: 'METRICS_PORT',
  }),
};

export const traceSettings = {
  tracesUrl: optionalSetting('TRACES_URL', tracesUrl, {
    about:
      'The URL to which the server sends traces, with the OpenTelemetry protocol over HTTP, as JSON. Without it, the server creates no traces.',
  }),
  tracesShare: setting('TRACES_SHARE', share, '1', {
    about:
      'The share of requests to trace. A request with a `traceparent` header uses the flag in it instead.',
    onlyWith: 'TRACES_URL',
  }),
  tracesHeaders: optionalSetting('TRACES_HEADERS', headerPairs, {
    about: 'HTTP headers to send with the traces, for example for a collector that requires authentication.',
    onlyWith: 'TRACES_URL',
    mayBeFile: true,
    isSecret: true,
  }),
};

const userName = text('a user name of 1 to 128 characters, without control characters');
const logLevel = oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace');

export const startSettings = {
  adminUsername: setting('ADMIN_USERNAME', userName, 'admin', {
    about: 'The user name of the administrator that the first start creates.',
    mayBeFile: true,
  }),
  adminPassword: optionalSetting('ADMIN_PASSWORD', text('a password'), {
    about:
      'The password of that administrator. Without it, the server generates one and prints it once. Later starts ignore it: set a new password in the console or with `espalier user password --on-database`.',
    mayBeFile: true,
    isSecret: true,
  }),
  demo: setting('DEMO', trueOrFalse, 'false', {
    about: 'Adds a demonstration tree if there are no folders yet.',
    isSwitch: true,
  }),
  logLevel: setting('LOG_LEVEL', logLevel, 'info', {
    about:
      'The lowest level of messages to log on standard error: as text in a terminal, otherwise as JSON lines. Info and lower levels include one line for each request.',
  }),
};

/** Settings of the commands that call a server. */
export const commandLineSettings = {
  url: optionalSetting('URL', serverUrl, {
    about: 'The API root of the server. By default, the one of the last login with this profile.',
  }),
  profile: setting(
    'PROFILE',
    text('letters, digits, dots, dashes and underscores', /^(?!\.)[\w.-]{1,64}$/),
    'default',
    {
      about: 'The name under which a login is stored. Use several for several servers or users.',
    },
  ),
};
