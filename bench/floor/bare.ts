/** Runs as a child process: a floor, which does what is asked for and nothing else. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@node-rs/argon2';
import { answerParent } from '../parent.ts';
import { respondToCreate, type CreateInput } from './bare-create.ts';
import { importRows, type ImportInput } from './bare-import.ts';
import { respondToLogin } from './bare-login.ts';
import { respondBySql, type SqlInput } from './bare-postgres.ts';
import { respondToRefresh } from './bare-refresh.ts';
import { respondByStatement, type StatementInput } from './bare-statement.ts';
import { respondToUnique } from './bare-unique.ts';
import type { Respond } from './respond.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

export type BareInput = { readonly answer: RecordedAnswer } & (
  | { readonly kind: 'bytes' }
  | { readonly kind: 'login' | 'refresh'; readonly file: string }
  | ({ readonly kind: 'create' } & CreateInput)
  | { readonly kind: 'unique' }
  | ({ readonly kind: 'statement' } & StatementInput)
  | ({ readonly kind: 'postgres' } & SqlInput)
);

export interface Guesses {
  readonly hash: string;
  readonly password: string;
  readonly count: number;
  readonly atOnce: number;
}

answerParent(
  {
    /** Answers with its URL. */
    start: async (input: BareInput): Promise<string> => listen(input.answer, await respondAs(input)),
    importRows: (input: ImportInput) => importRows(input),
    verifyPasswords,
  },
  () => undefined,
);

function respondAs(input: BareInput): Respond | Promise<Respond> {
  const { body } = input.answer;
  switch (input.kind) {
    case 'bytes':
      return () => body;
    case 'login':
      return respondToLogin(input.file, body);
    case 'refresh':
      return respondToRefresh(input.file, body);
    case 'create':
      return respondToCreate(input, body);
    case 'unique':
      return respondToUnique(body);
    case 'statement':
      return respondByStatement(input);
    case 'postgres':
      return respondBySql(input, body);
  }
}

/** Raw node:http: reads the whole body, and answers with the recorded status and headers. */
async function listen(answer: RecordedAnswer, respond: Respond): Promise<string> {
  const headers = answer.headers.flat();
  const send = (response: ServerResponse, body: string) => {
    response.writeHead(answer.status, headers);
    response.end(body);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const made = respond(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      if (typeof made === 'string') return send(response, made);
      made.then(
        (body) => send(response, body),
        (error: Error) => response.destroy(error),
      );
    });
  });
  server.keepAliveTimeout = answer.keepAliveSeconds * 1000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function verifyPasswords({ hash, password, count, atOnce }: Guesses): Promise<void> {
  let left = count;
  const guess = async () => {
    while (left-- > 0) if (!(await verify(hash, password))) throw new Error('The password is wrong.');
  };
  await Promise.all(Array.from({ length: atOnce }, guess));
}
