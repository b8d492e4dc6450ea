/** Executes queries: by a query plan, or by graphql-js if no plan covers the query. */

import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Task } from '../concurrency/fair-scheduler.ts';
import { whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { Refusal } from '../refusal.ts';
import { encodeLong, tryExecute, type Results } from './graph-results.ts';
import { throwIfStopped, type GraphResult, type Operation } from './operation.ts';
import type { TraceField } from './plan/plan-run.ts';
import { QueryPlans, type PlannedData, type ReadyPlan } from './plan/query-plans.ts';
import type { GraphContext } from './schema/builder.ts';
import { rethrowSliceExceeded } from './time-slices.ts';
import { SecondReadError, type OpenOptions, type ViewerReads } from './viewer-reads.ts';

export interface QueryHooks {
  /** Called for each query that is executed. */
  readonly onQuery?: ((engine: 'plan' | 'graphql-js') => void) | undefined;
  /** Called when a query plan fails unexpectedly; graphql-js then executes the query. Tests throw here. */
  readonly onPlanFailure: (error: unknown) => void;
}

export class Queries {
  readonly #reads: ViewerReads;
  readonly #results: Results;
  readonly #hooks: QueryHooks;
  readonly #plans: QueryPlans;

  constructor(reads: ViewerReads, results: Results, hooks: QueryHooks, traceField: TraceField | undefined) {
    this.#reads = reads;
    this.#results = results;
    this.#hooks = hooks;
    this.#plans = new QueryPlans(reads.schema, traceField);
  }

  run(operation: Operation): PromiseOrValue<GraphResult> {
    const { request } = operation;
    const plan = this.#plans.planFor(request);
    const isLong = this.#reads.mayTakeLong(request.document, plan !== undefined);
    return isLong ? this.#runLong(operation, plan) : this.#runShort(operation, plan);
  }

  #runShort(operation: Operation, plan: ReadyPlan | undefined): PromiseOrValue<GraphResult> {
    const { viewer, signal } = operation;
    const response = this.#reads.scheduler.run(
      viewer.userId,
      (task) => {
        throwIfStopped(operation);
        const read = (options: OpenOptions) =>
          this.#reads.readInOneSlice(operation, { task, ...options }, (context) =>
            this.#execute(operation, options, context),
          );
        return this.#withFallback(plan, read);
      },
      { signal },
    );
    // Null means that the response takes more than one slice.
    return whenDone(response, (result) => result ?? this.#runLong(operation, plan));
  }

  async #runLong(operation: Operation, plan: ReadyPlan | undefined): Promise<GraphResult> {
    return this.#withFallback(plan, (options) =>
      this.#reads.readLong(operation, async (context) => {
        throwIfStopped(operation);
        return this.#execute(operation, options, context, context.task);
      }),
    );
  }

  /**
   * Runs the plan, first without a snapshot if it needs only one statement. If the plan fails, its output and snapshot are
   * discarded, and graphql-js executes the query.
   */
  #withFallback<T>(
    plan: ReadyPlan | undefined,
    run: (options: OpenOptions) => PromiseOrValue<T>,
  ): PromiseOrValue<T> {
    const { onQuery, onPlanFailure } = this.#hooks;
    const runGraphqlJs = () => {
      onQuery?.('graphql-js');
      return run({});
    };
    if (!plan) return runGraphqlJs();
    const recover = (error: unknown): PromiseOrValue<T> => {
      if (error instanceof Refusal) throw error;
      if (error instanceof SecondReadError) return whenFailed(() => run({ plan }), recover);
      // A GraphQLError reports an invalid argument, which graphql-js also rejects.
      if (!(error instanceof GraphQLError)) onPlanFailure(error);
      return runGraphqlJs();
    };
    onQuery?.('plan');
    return whenFailed(() => run({ plan, trySingleStatement: true }), recover);
  }

  /** With a task, the response is written in several slices. */
  #execute(
    operation: Operation,
    { plan }: OpenOptions,
    contextValue: GraphContext,
    task?: Task,
  ): PromiseOrValue<GraphResult> {
    if (plan) {
      return whenDone(plan.run(contextValue), (data) => {
        const result = this.#toResult(data, operation);
        return task ? encodeLong(result, task) : result;
      });
    }
    return whenDone(tryExecute({ ...operation.request, contextValue }), (done) => {
      if (task) return this.#results.toLongResult(done, operation, task);
      rethrowSliceExceeded(done);
      return this.#results.toResult(done, operation);
    });
  }

  #toResult({ text, errors }: PlannedData, operation: Operation): GraphResult {
    if (errors.length === 0) return { isExecuted: true, text: `{"data":${text}}` };
    const data = JSON.parse(text) as NonNullable<ExecutionResult['data']> | null;
    return this.#results.toResult({ data, errors }, operation);
  }
}
