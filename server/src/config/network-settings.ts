/** Settings of the listening address, TLS, proxies, CORS and shutdown. */

import { setting } from './setting.ts';
import {
  basePath,
  hostName,
  origins,
  text,
  trustedProxies,
  wholeNumber,
  parseBoolean,
} from './setting-values.ts';

export const networkSettings = {
  host: setting({
    name: 'HOST',
    about: 'The address to listen on. Beyond loopback, use TLS or a proxy that does.',
    accepts: 'a host name or an IP address',
    default: '127.0.0.1',
    parse: hostName,
  }),
  port: setting({
    name: 'PORT',
    about: 'The port to listen on; 0 picks a free one and prints it.',
    accepts: 'a whole number from 0 to 65535',
    default: '8080',
    parse: wholeNumber(0, 65_535),
  }),
  workers: setting({
    name: 'WORKERS',
    about:
      'How many worker processes serve this port, over the same database. Use at most the number of free cores. With more than one, an additional process starts and stops them. More than one needs a system with `SO_REUSEPORT`, for example Linux.',
    accepts: 'a whole number from 1 to 64',
    default: '1',
    parse: wholeNumber(1, 64),
  }),
  basePath: setting({
    name: 'BASE_PATH',
    about:
      'The path under which everything is served, for a proxy that forwards only a part of its addresses.',
    accepts: 'a path such as / or /tree',
    default: '/',
    parse: basePath,
  }),
  tlsCertFile: setting({
    name: 'TLS_CERT_FILE',
    about: 'A PEM file with the certificate chain, to serve https and wss directly. Needs the key too.',
    accepts: 'the path of a PEM file',
    parse: text,
  }),
  tlsKeyFile: setting({
    name: 'TLS_KEY_FILE',
    about: 'A PEM file with the private key of that certificate.',
    accepts: 'the path of a PEM file',
    parse: text,
  }),
  trustProxy: setting({
    name: 'TRUST_PROXY',
    about:
      'Which proxies in front may report the client address (for the log, the sessions and the login throttle) in X-Forwarded-For: none (false), any (true), so many hops, or these addresses. The server warns of true and of ranges wider than /24 (IPv4) or /64 (IPv6).',
    accepts: 'true, false, a number of hops, or a comma-separated list of addresses or CIDR ranges',
    default: 'false',
    parse: trustedProxies,
  }),
  corsOrigins: setting({
    name: 'CORS_ORIGINS',
    about:
      'Web pages of these origins may call the service from a browser, and open sockets; * means any. None by default, but those of the service’s own address.',
    accepts: 'a comma-separated list of origins such as https://app.example.com, or *',
    default: '',
    parse: origins,
  }),
  console: setting({
    name: 'CONSOLE',
    about: 'Whether the web console is served, at `/console`. Off, there is nothing at that address.',
    accepts: 'on or off',
    default: 'on',
    parse: parseBoolean,
  }),
  stopSeconds: setting({
    name: 'STOP_SECONDS',
    about:
      'How long requests in flight may take to finish when the server is told to stop; what is not done by then is cut.',
    accepts: 'a whole number from 1 to 3600',
    default: '10',
    parse: wholeNumber(1, 3_600),
  }),
  stopDelaySeconds: setting({
    name: 'STOP_DELAY_SECONDS',
    about:
      'How long the port stays open before that, with `/readyz` at 503, so that load balancers turn to other nodes first. Behind one that asks every two seconds: 5.',
    accepts: 'a whole number from 0 to 600',
    default: '0',
    parse: wholeNumber(0, 600),
  }),
};
