/** Sends the explorer's operations as the viewer, and returns errors and data unchanged. */

import { authorizedFetch } from '@espalier/client';
import { Kind, OperationTypeNode, type DocumentNode, type ExecutionResult } from 'graphql';
import { client } from '../session/client.ts';
import { currentView } from '../session/view-as.ts';

interface Operation {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null | undefined;
}

interface Observer {
  next(result: ExecutionResult): void;
  error(error: unknown): void;
  complete(): void;
}

/** The observable that GraphiQL subscribes to. */
interface Observable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

const send = authorizedFetch(client);

export function fetchGraph(
  operation: Operation,
  { documentAST }: { documentAST?: DocumentNode } = {},
): Promise<ExecutionResult> | Observable {
  return documentAST && isSubscription(documentAST, operation.operationName)
    ? follow(operation)
    : request(operation);
}

export function isSubscription(document: DocumentNode, operationName?: string | null): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation === OperationTypeNode.SUBSCRIPTION &&
      (!operationName || definition.name?.value === operationName),
  );
}

async function request(operation: Operation): Promise<ExecutionResult> {
  const answer = await send(`${client.url}/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
      ...(currentView && { 'Espalier-View-As': currentView.viewToken }),
    },
    body: JSON.stringify(operation),
  });
  return (await answer.json()) as ExecutionResult;
}

function follow({ query, variables, operationName }: Operation): Observable {
  return {
    subscribe(observer) {
      const payload = {
        query,
        variables: (variables ?? {}) as Record<string, unknown>,
        operationName: operationName ?? null,
      };
      const stop = client.socket.subscribe(payload, {
        next: (result) => observer.next(result as ExecutionResult),
        // GraphiQL would show a close event as an empty object.
        error: (error) => observer.error(error instanceof CloseEvent ? lost : error),
        complete: () => observer.complete(),
      });
      return { unsubscribe: stop };
    },
  };
}

const lost = { message: 'The connection was lost. Run the query again.' };
