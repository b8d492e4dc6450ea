/** Executes queries: by a query plan, or by graphql-js if no plan covers the query. */

import { GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { Scheduler, Task } from '../concurrency/fair-scheduler.ts';
import { whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import { encodeLong, tryExecute, type Results } from './graph-results.ts';
import type { GraphResult } from './graph-stream.ts';
import { requireMayBegin, type Operation } from './operation.ts';
import type { TraceField } from './plan/plan-run.ts';
import type { PlannedData } from './plan/query-plan.ts';
import { createQueryPlans, type QueryPlans, type ReadyPlan } from './plan/query-plans.ts';
import type { GraphContext } from './schema/builder.ts';
import { rethrowSliceExceeded } from './time-slices.ts';
import type { ViewerReads } from './viewer-reads.ts';
import { SecondRead, type OpenOptions } from './viewer-snapshots.ts';

/** What executes a query: a query plan, or graphql-js for everything that no plan covers. */
export type Engine = 'plan' | 'graphql-js';

export interface QueryOptions {
  readonly schema: GraphQLSchema;
  readonly scheduler: Scheduler;
  readonly reads: ViewerReads;
  readonly results: Results;
  readonly traceField: TraceField | undefined;
  readonly onQuery: ((engine: Engine) => void) | undefined;
  readonly onPlanFailure: (error: unknown) => void;
}

/** With a task, the response is written in several slices. */
type Execute = (context: GraphContext, task?: Task) => PromiseOrValue<GraphResult>;

export class Queries {
  readonly #options: QueryOptions;
  readonly #plans: QueryPlans;

  constructor(options: QueryOptions) {
    this.#options = options;
    this.#plans = createQueryPlans(options.schema, options.traceField);
  }

  run(operation: Operation): PromiseOrValue<GraphResult> {
    const { request } = operation;
    const plan = this.#plans.planFor(request);
    const isLong = this.#options.reads.mayTakeLong(request.document, plan !== undefined);
    return isLong ? this.#runLong(operation, plan) : this.#runShort(operation, plan);
  }

  #runShort(operation: Operation, plan: ReadyPlan | undefined): PromiseOrValue<GraphResult> {
    const { scheduler, reads } = this.#options;
    const { viewer, signal } = operation;
    const response = scheduler.run(
      viewer.userId,
      (task) => {
        requireMayBegin(operation);
        return this.#withPlan(operation, plan, (execute, options) =>
          reads.readInOneSlice(operation, { task, ...options }, (context) => execute(context)),
        );
      },
      { signal },
    );
    return whenDone(response, (result) => result ?? this.#runLong(operation, plan));
  }

  async #runLong(operation: Operation, plan: ReadyPlan | undefined): Promise<GraphResult> {
    return this.#withPlan(operation, plan, (execute) =>
      this.#options.reads.readLong(operation, {}, async (context) => {
        requireMayBegin(operation);
        return execute(context, context.task);
      }),
    );
  }

  /** If the plan fails, its output and snapshot are discarded, and graphql-js executes the query. */
  #withPlan<T extends GraphResult | null>(
    operation: Operation,
    plan: ReadyPlan | undefined,
    run: (execute: Execute, options?: OpenOptions) => PromiseOrValue<T>,
  ): PromiseOrValue<T> {
    const { onQuery, onPlanFailure } = this.#options;
    const runGraphqlJs = () => {
      onQuery?.('graphql-js');
      return run((context, task) => this.#executeGraphqlJs(operation, context, task));
    };
    if (!plan) return runGraphqlJs();
    const runPlan = (options: OpenOptions) =>
      run((context, task) => this.#executePlan(operation, plan, context, task), options);
    const recover = (error: unknown): PromiseOrValue<T> => {
      if (error instanceof Refusal) throw error;
      if (error instanceof SecondRead) return whenFailed(() => runPlan({ plan }), recover);
      // A GraphQLError is an argument that graphql-js rejects, too.
      if (!(error instanceof GraphQLError)) onPlanFailure(error);
      return runGraphqlJs();
    };
    onQuery?.('plan');
    return whenFailed(() => runPlan({ plan, mayReadOnce: true }), recover);
  }

  #executeGraphqlJs(
    { query, request }: Operation,
    contextValue: GraphContext,
    task: Task | undefined,
  ): PromiseOrValue<GraphResult> {
    const { results } = this.#options;
    return whenDone(tryExecute({ ...request, contextValue }), (done) => {
      if (task) return results.toLongResult(done, query, task);
      rethrowSliceExceeded(done);
      return results.toResult(done, query);
    });
  }

  #executePlan(
    { query }: Operation,
    plan: ReadyPlan,
    context: GraphContext,
    task: Task | undefined,
  ): PromiseOrValue<GraphResult> {
    return whenDone(plan.run(context), (data) => {
      const result = this.#toResult(data, query);
      return task ? encodeLong(result, task) : result;
    });
  }

  #toResult({ text, errors }: PlannedData, query: string): GraphResult {
    if (errors.length === 0) return { isExecuted: true, text: `{"data":${text}}` };
    const data = JSON.parse(text) as NonNullable<ExecutionResult['data']> | null;
    return this.#options.results.toResult({ data, errors }, query);
  }
}
