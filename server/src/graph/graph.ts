/** Runs graph queries for a viewer. Knows nothing of HTTP, tokens or sockets. */

import {
  execute,
  GraphQLError,
  OperationTypeNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLFormattedError,
} from 'graphql';
import { toGraphCode, type GraphRequest } from '@espalier/contract';
import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { viewTree } from '../folders/folders.ts';
import { Refusal } from '../refusal.ts';
import { Budget } from './price/budget.ts';
import type { GraphContext, GraphServices } from './builder.ts';
import { createDocuments, operationKind } from './documents.ts';
import { ElementFields } from './price/element-fields.ts';
import { coded } from './graph-error.ts';
import { createLongReads } from './long-reads.ts';
import { withLocations } from './locations.ts';
import { createSchema } from './schema.ts';
import { areNestedTooDeeply, mostVariableLevels } from './variables.ts';
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

/** Of an answer's errors; one for each folder of a list says no more than that. */
const mostErrors = 100;

export function createGraph({ onBug, ...services }: GraphOptions): Graph {
  const schema = createSchema();
  const documents = createDocuments(schema, services.limits);
  const elementFields = new ElementFields();
  const longReads = createLongReads(services.database, services.accessBook);

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
      if (variables && areNestedTooDeeply(variables)) return toResult({ errors: [nestedTooDeeply()] }, query);
      return whenDone(services.accessBook.accessOf(viewer.userId), (access) => {
        const budget = new Budget(services.limits, elementFields);
        const view = viewTree(services.database, access);
        const contextValue: GraphContext = { ...services, viewer, access, view, budget, longReads };
        const result = tryExecute({
          schema,
          document,
          operationName,
          variableValues: variables,
          contextValue,
        });
        return whenDone(result, (done) => toResult(done, query));
      });
    },
  };

  function toResult({ data, errors }: ExecutionResult, query: string): GraphResult {
    const isExecuted = data !== undefined;
    if (!errors) return { isExecuted, body: { data } };
    const formatted = errors
      .slice(0, mostErrors)
      .map((error) => (isExecuted ? fieldError(error) : requestError(error)));
    const shown = withLocations(formatted, query);
    return { isExecuted, body: isExecuted ? { errors: shown, data } : { errors: shown } };
  }

  function fieldError(error: GraphQLError): GraphQLFormattedError {
    const cause = error.originalError;
    if (cause instanceof Refusal) return coded(error, toGraphCode(cause.code), cause.details.facts);
    onBug(cause ?? error);
    return { ...coded(error, 'INTERNAL'), message: 'Internal server error.' };
  }
}

/** Input is coerced by recursion; what exhausts the stack is the caller's mistake. */
function tryExecute(request: ExecutionArgs): PromiseOrValue<ExecutionResult> {
  try {
    return execute(request);
  } catch (error) {
    if (error instanceof RangeError) return { errors: [nestedTooDeeply()] };
    throw error;
  }
}

/** graphql-js passes on as it is whatever a variable's coercion threw. */
function requestError(error: Error): GraphQLFormattedError {
  if (error instanceof GraphQLError) return coded(error, 'BAD_INPUT');
  if (error instanceof RangeError) return coded(nestedTooDeeply(), 'BAD_INPUT');
  throw error;
}

function nestedTooDeeply(): GraphQLError {
  return new GraphQLError(`The variables are nested too deeply: at most ${mostVariableLevels} levels.`);
}
