/** Resolvers that charge their results to the budget of the response. */

import type { GraphQLResolveInfo } from 'graphql';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { completeInSlices } from '../time-slices.ts';
import type { GraphContext } from './builder.ts';

type Read<Source, Result> = (source: Source, context: GraphContext) => PromiseOrValue<Result>;

export function chargeText<Source, Text extends string | null>(read: Read<Source, Text>) {
  return (source: Source, _: object, context: GraphContext, info: GraphQLResolveInfo) =>
    whenDone(read(source, context), (text) => context.budget.spendText(text, info));
}

/**
 * For a text of a value that must be loaded first. One `whenDone` is enough for both: a second one would take another turn of
 * the microtask queue.
 */
export function chargeTextIn<Source, Loaded, Text extends string | null>(
  load: (source: Source) => PromiseOrValue<Loaded>,
  toText: (loaded: Loaded, source: Source) => Text,
) {
  return (source: Source, _: object, { budget }: GraphContext, info: GraphQLResolveInfo) =>
    whenDone(load(source), (loaded) => budget.spendText(toText(loaded, source), info));
}

/** For a short list. */
export function chargeList<Source, Item>(read: Read<Source, readonly Item[]>) {
  return (source: Source, _: object, context: GraphContext, info: GraphQLResolveInfo) =>
    whenDone(read(source, context), (list) => context.budget.spend(list, info));
}

/** For a list that may take more than one time slice. */
export function chargeLongList<Source, Item>(read: Read<Source, readonly Item[]>) {
  return (source: Source, _: object, context: GraphContext, info: GraphQLResolveInfo) =>
    whenDone(read(source, context), (list) =>
      completeInSlices(context.budget.spend(list, info), context, info),
    );
}
