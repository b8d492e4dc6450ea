/** Runs graph queries for a viewer. Knows nothing of HTTP, tokens or sockets. */

import {
  execute,
  GraphQLError,
  OperationTypeNode,
  type ExecutionResult,
  type GraphQLFormattedError,
} from 'graphql';
import { toGraphCode, type GraphRequest } from '@espalier/contract';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { createDocuments, operationKind } from './documents.ts';
import type { GraphContext, GraphServices } from './builder.ts';
import { FolderBudget } from './folder-budget.ts';
import { coded } from './graph-error.ts';
import { createSchema } from './schema.ts';
import type { Viewer } from './viewer.ts';

export interface GraphResult {
  /** False when the request failed before anything was run: then there is no `data`. */
  readonly isExecuted: boolean;
  readonly body: { readonly data?: unknown; readonly errors?: readonly GraphQLFormattedError[] };
}

export interface GraphOptions extends GraphServices {
  /** Told of what should not have happened; the client learns only that it did. */
  readonly onBug: (error: unknown) => void;
}

export interface Graph {
  run(
    request: GraphRequest,
    viewer: Viewer,
    limits?: { readonly queriesOnly: boolean },
  ): PromiseOrValue<GraphResult>;
}

export function createGraph({ onBug, ...services }: GraphOptions): Graph {
  const schema = createSchema();
  const documents = createDocuments(schema);

  return {
    run({ query, operationName, variables }, viewer, limits) {
      const { document, errors } = documents.check(query);
      if (errors) return { isExecuted: false, body: { errors } };
      const kind = operationKind(document, operationName);
      if (limits?.queriesOnly && kind === OperationTypeNode.MUTATION) {
        throw new Refusal('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST.', { allow: ['POST'] });
      }
      // graphql-js checks the fields of an operation only if the schema has its kind.
      if (kind && !schema.getRootType(kind)) {
        const error = new GraphQLError(`This schema has no ${kind}s.`);
        return { isExecuted: false, body: { errors: [coded(error, 'GRAPHQL_VALIDATION_FAILED')] } };
      }
      return whenDone(services.accessBook.accessOf(viewer.userId), (access) => {
        const contextValue: GraphContext = { ...services, viewer, access, budget: new FolderBudget() };
        const result = execute({ schema, document, operationName, variableValues: variables, contextValue });
        return whenDone(result, toResult);
      });
    },
  };

  function toResult({ data, errors }: ExecutionResult): GraphResult {
    const isExecuted = data !== undefined;
    if (!errors) return { isExecuted, body: { data } };
    const shown = errors.map((error) => (isExecuted ? fieldError(error) : coded(error, 'BAD_INPUT')));
    return { isExecuted, body: isExecuted ? { errors: shown, data } : { errors: shown } };
  }

  function fieldError(error: GraphQLError): GraphQLFormattedError {
    const cause = error.originalError;
    if (cause instanceof Refusal) return coded(error, toGraphCode(cause.code), cause.details.facts);
    onBug(cause ?? error);
    return { ...coded(error, 'INTERNAL'), message: 'Internal server error.' };
  }
}
