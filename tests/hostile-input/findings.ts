/** Requests that once caused a fault, with a description of the fault. They run before all others. */

import type { HostileRequest } from './hostile-request.ts';
import { bearer, writeRequest } from './http-requests.ts';

export interface Finding {
  readonly title: string;
  readonly requests: readonly HostileRequest[];
}

export const findings: readonly Finding[] = [
  {
    title: 'a client that disconnected in the middle of a body was logged as a failure of the server',
    requests: [
      {
        kind: 'http',
        parts: [
          'POST /login/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"authToken":',
        ],
      },
    ],
  },
  {
    title: 'a subscription with only a skipped field got a response of 500',
    requests: [
      'subscription{folderChanges @skip(if: true){kind}}',
      'subscription{... on Subscription @include(if: false){folderChanges{kind}}}',
      'subscription{...F} fragment F on Subscription{folderChanges @include(if: false){kind}}',
    ].map((query) => ({
      kind: 'graph',
      parts: [
        writeRequest(
          {
            path: '/graphql',
            headers: [bearer, 'Content-Type: application/json', 'Accept: text/event-stream'],
          },
          JSON.stringify({ query }),
        ),
      ],
    })),
  },
  {
    title: 'a client that sent nonsense before it received events was logged as a failure of the server',
    requests: Array.from({ length: 10 }, () => ({
      kind: 'http',
      parts: [
        writeRequest(
          {
            path: '/graphql',
            headers: [bearer, 'Content-Type: application/json', 'Accept: text/event-stream'],
          },
          '{"query":"subscription{folderChanges{kind}}"}',
        ),
        'NONSENSE\r\n\r\n',
      ],
    })),
  },
];
