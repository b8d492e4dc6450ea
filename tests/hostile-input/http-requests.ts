/** Valid and damaged HTTP/1.1 requests for every endpoint. */

import type { Random } from '../many-nodes/chaos/random.ts';
import { mutateBytes, oddBytes, oddNumbers, splice } from './byte-mutations.ts';
import type { HostileRequest } from './hostile-request.ts';

export interface Head {
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly string[];
}

const host = 'Host: localhost';
const json = 'Content-Type: application/json';
export const bearer = 'Authorization: Bearer $AT$';

/** Writes a valid request. */
export function writeRequest({ method = 'POST', path, headers = [] }: Head, body?: string): string {
  const lines = [`${method} ${path} HTTP/1.1`, host, ...headers];
  if (body !== undefined) lines.push('Content-Length: $LENGTH$');
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/**
 * One request for each endpoint. The login uses an invalid name, because a password hash costs more than
 * everything else.
 */
const validRequests: readonly string[] = [
  writeRequest({ path: '/login', headers: [json] }, '{"username":1,"password":"$PASSWORD$"}'),
  writeRequest({ path: '/login/refresh', headers: [json, bearer] }, '{"refreshToken":"$PASSWORD$"}'),
  writeRequest({ path: '/login/verify', headers: [json] }, '{"authToken":"$AT$"}'),
  writeRequest({ path: '/logout', headers: [json] }, '{"refreshToken":"$PASSWORD$"}'),
  writeRequest({ path: '/graphql', headers: [json, bearer] }, '{"query":"{folder{name}}"}'),
  writeRequest(
    { path: '/graphql', headers: [json, bearer, 'Accept: text/event-stream'] },
    '{"query":"subscription{folderChanges{kind}}"}',
  ),
  writeRequest({ method: 'GET', path: '/graphql?query=%7Bfolder%7Bname%7D%7D', headers: [bearer] }),
  writeRequest({ method: 'GET', path: '/livez' }),
  writeRequest({ method: 'HEAD', path: '/readyz' }),
  writeRequest({ method: 'GET', path: '/openapi.json', headers: ['Accept-Encoding: gzip'] }),
  writeRequest({ method: 'GET', path: '/nothing/here?x=1' }),
  writeRequest({ method: 'GET', path: '/graphql/ws', headers: ['Connection: Upgrade', 'Upgrade: h2c'] }),
];

const oddMethods = [
  'get',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PATCH',
  'PROPFIND',
  'QUERY',
  'PRI',
  'FOO',
  '',
];
const oddPaths = [
  '*',
  '/%',
  '/%ff',
  '/graphql%00',
  '//graphql',
  '/graphql/../login',
  '/./login',
  'http://x/graphql',
  'http://',
  '/\\login',
  '/login;x=1',
  `/${'a'.repeat(9_000)}`,
  '/?',
  '/#',
  '/login?__proto__=1',
  'localhost:80',
  '/%2e%2e/%2e%2e',
];
const oddHeaders = [
  ...[
    'Host: other',
    'Host:',
    'Content-Length: 5',
    'Content-Length: 5, 5',
    'Content-Length: -5',
    'Content-Length: 99999999',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: identity',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: nonsense',
    'Connection: close',
    'Connection: keep-alive, content-length',
    'Upgrade: websocket',
  ],
  ...[
    'Authorization: Bearer $AT$',
    'Authorization: Basic YTpi',
    'Authorization: Bearer',
    'Content-Type: text/plain',
    'Content-Type:',
  ],
  ...[
    'Content-Encoding: gzip',
    'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-For: ::1, x',
    'Accept: */*;q=0',
    'Accept: text/event-stream',
  ],
  ...[
    'Origin: null',
    'Origin: http://x.example',
    'Access-Control-Request-Method: POST',
    'Range: bytes=0-',
    'Cookie: a=b',
    ': x',
    'A B: c',
  ],
  ...[
    ' folded: x',
    'User-Agent: \xff\x80',
    'TE: trailers',
    'Trailer: x',
    `X-Long: ${'y'.repeat(20_000)}`,
    'If-None-Match: *',
  ],
];
const oddChunks = [
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  '-1\r\n',
  'ffffffffffffffff\r\n',
  'zz\r\n',
  '5;ext="\r\n',
  '3\r\nabcd\r\n0\r\n\r\n',
  '0\r\nTrailer: x\r\n\r\n',
  '2\r\n{}\r\n0\r\n\r\n',
];

const damages: readonly ((random: Random, text: string) => string)[] = [
  mutateBytes,
  mutateBytes,
  function replaceMethod(random, text) {
    return text.replace(/^\S*/, random.pick(oddMethods));
  },
  function replacePath(random, text) {
    return text.replace(/^(\S*) \S*/, (_, method: string) => `${method} ${random.pick(oddPaths)}`);
  },
  function replaceVersion(random, text) {
    return text.replace(
      'HTTP/1.1',
      random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.10', 'HTTPS/1.1', '', 'ICE/1.0']),
    );
  },
  function addHeader(random, text) {
    return text.replace('\r\n', () => `\r\n${random.pick(oddHeaders)}\r\n`);
  },
  function repeatHeader(random, text) {
    const lines = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n').slice(1);
    return text.replace('\r\n', () => `\r\n${random.pick(lines)}\r\n`);
  },
  function removeHeader(random, text) {
    const lines = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n').slice(1);
    return text.replace(`${random.pick(lines)}\r\n`, '');
  },
  function addManyHeaders(random, text) {
    const many = Array.from({ length: random.below(2_500) }, (_, index) => `X-${index}: y`);
    return text.replace('\r\n', () => `\r\n${many.join('\r\n')}\r\n`);
  },
  function replaceLength(random, text) {
    return text.replace('$LENGTH$', random.pick(oddNumbers));
  },
  function makeChunked(random, text) {
    const end = text.indexOf('\r\n\r\n');
    const head = text.slice(0, end).replace(/Content-Length: \S*/, 'Transfer-Encoding: chunked');
    const body = text.slice(end + 4);
    const validChunks = body.length > 0 ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : '0\r\n\r\n';
    return `${head}\r\n\r\n${random.chance(0.3) ? validChunks : random.pick(oddChunks)}`;
  },
  function replaceLineEnds(random, text) {
    return text.replaceAll('\r\n', random.pick(['\n', '\r', '\r\n\r\n', '\n\r', ' \r\n']));
  },
  function insertOddByteIntoHead(random, text) {
    const at = random.below(text.indexOf('\r\n\r\n'));
    return text.slice(0, at) + random.pick(oddBytes) + text.slice(at);
  },
];

export function hostileHttp(random: Random): HostileRequest {
  const createDamagedRequest = () => random.pick(damages)(random, random.pick(validRequests));
  const parts = [
    random.chance(0.9)
      ? createDamagedRequest()
      : splice(random, random.pick(validRequests), createDamagedRequest()),
  ];
  // Several requests in a row, without waiting for the responses.
  while (random.chance(0.15))
    parts.push(random.chance(0.5) ? random.pick(validRequests) : createDamagedRequest());
  return { kind: 'http', parts: random.chance(0.2) ? random.shuffle(parts) : parts };
}
