/** What a watched tree needs of a client, over HTTP and the published graphql-ws, with a socket that tests cut. */

import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { EspalierError, type ErrorCode, type GraphErrorShape } from '../../client/src/errors.ts';
import type { WatchingClient } from '../../client/src/follow-changes.ts';
import type { GraphBed, Variables } from '../graph-bed.ts';

export interface CutClient extends WatchingClient {
  cut(): void;
  close(): Promise<void>;
}

export function connectWatching(bed: GraphBed, authToken: string): CutClient {
  let socket: WebSocket | undefined;
  const sockets = createClient({
    url: `${bed.bed.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${authToken}` },
    shouldRetry: () => true,
    retryAttempts: Infinity,
    retryWait: () => Promise.resolve(),
    on: { connected: (opened) => void (socket = opened as WebSocket) },
  });
  return {
    query: (async (document: string, variables: Variables) => {
      const { data, errors } = await bed.body(document, variables, authToken);
      if (errors) throw toError(errors);
      return data;
    }) as WatchingClient['query'],
    async *subscribe<Result, Given>(
      query: string,
      variables: () => Given,
      { signal }: { signal?: AbortSignal | undefined },
    ) {
      const stream = sockets.iterate({ query, variables: { toJSON: variables } });
      signal?.addEventListener('abort', () => void stream.return?.());
      try {
        for await (const { data, errors } of stream) {
          if (errors) throw toError(errors);
          yield data as Result;
        }
      } catch (error) {
        throw Array.isArray(error) ? toError(error as GraphErrorShape[]) : error;
      }
    },
    cut: () => socket?.terminate(),
    close: async () => sockets.dispose(),
  };
}

function toError([first]: readonly Pick<GraphErrorShape, 'message' | 'extensions'>[]): EspalierError {
  return new EspalierError(first!.extensions!['code'] as ErrorCode, first!.message);
}
