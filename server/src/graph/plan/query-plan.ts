/** Compiles queries about folders into plans that write the response. graphql-js executes all other queries. */

import { GraphQLError, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { inOrder, whenDone, whenFailed, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { GraphContext } from '../schema/builder.ts';
import type { FolderConnection } from '../schema/folders/folder-connection.ts';
import type { FolderNode } from '../schema/folders/folder-batch.ts';
import { planFirstRead, type PlannedFirstRead } from './first-read.ts';
import { planConnections, planFolders } from './folder-plan.ts';
import { LocatedRefusal, PlanRun, quote, type TraceField } from './plan-run.ts';
import { Selections, Unplannable, type SelectedField, type Variables } from './selections.ts';

/** The text of `data`, and the errors of the fields that are null in it. */
export interface PlannedData {
  readonly text: string;
  readonly errors: readonly GraphQLError[];
}

export interface QueryPlan {
  run(context: GraphContext, variables: Variables, trace?: TraceField): PromiseOrValue<PlannedData>;
  /** Undefined if it reads no folder by its id. */
  readonly firstRead: PlannedFirstRead | undefined;
  /** The number of its fields. */
  readonly size: number;
}

interface RootField {
  readonly start: string;
  readonly isNullable: boolean;
  readonly write: (run: PlanRun) => PromiseOrValue<string>;
}

/** Undefined if no plan covers the query. `variables` decide only which fields are selected. */
export function planQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): QueryPlan | undefined {
  try {
    const selections = new Selections(schema, document, operation, variables);
    const selected = selections.ofOperation();
    const fields = selected.map((field) => rootField(selections, field));
    return {
      size: selections.size,
      run: (context, values, trace) => runFields(fields, new PlanRun(context, values, trace)),
      firstRead: planFirstRead(selections, selected),
    };
  } catch (error) {
    if (error instanceof Unplannable || error instanceof GraphQLError) return undefined;
    throw error;
  }
}

function rootField(selections: Selections, field: SelectedField): RootField {
  const start = `${JSON.stringify(field.key)}:`;
  switch (field.name) {
    case '__typename':
      return { start, isNullable: false, write: () => '"Query"' };
    case 'cursor':
      return { start, isNullable: false, write: (run) => quote(resolve<string>(field, run) as string) };
    case 'folder':
    case 'node': {
      const writer = planFolders(selections, field);
      const write = (run: PlanRun) =>
        whenDone(resolve<FolderNode | null>(field, run), (node) =>
          node === null ? 'null' : whenDone(writer.write([node], run), ([text]) => text!),
        );
      return { start, isNullable: true, write };
    }
    case 'search': {
      const writer = planConnections(selections, field);
      const write = (run: PlanRun) =>
        whenDone(resolve<FolderConnection>(field, run), (connection) =>
          whenDone(writer.write([connection], run), ([text]) => text!),
        );
      return { start, isNullable: false, write };
    }
    default:
      throw new Unplannable();
  }
}

function resolve<T>(field: SelectedField, run: PlanRun): PromiseOrValue<T> {
  const input = field.argumentsIn(run.variables);
  const resolver = field.definition!.resolve!;
  return run.locate(field, () => resolver(undefined, input, run.context, field.info) as PromiseOrValue<T>);
}

function runFields(fields: readonly RootField[], run: PlanRun): PromiseOrValue<PlannedData> {
  let text = '{';
  const written = whenFailed(
    () =>
      inOrder(fields, ({ start, write, isNullable }, index) =>
        whenDone(
          whenFailed(
            () => write(run),
            (error) => {
              if (!isNullable || !(error instanceof LocatedRefusal)) throw error;
              run.errors.push(error.error);
              return 'null';
            },
          ),
          (value) => void (text += `${index > 0 ? ',' : ''}${start}${value}`),
        ),
      ),
    (error) => {
      // A field that cannot be null has failed, so `data` is null.
      if (!(error instanceof LocatedRefusal)) throw error;
      run.errors.push(error.error);
      text = '';
    },
  );
  return whenDone(written, () => ({ text: text === '' ? 'null' : `${text}}`, errors: run.errors }));
}
