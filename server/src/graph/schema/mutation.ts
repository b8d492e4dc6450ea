/** Adds fields to Mutation. Each makes its change through the domain; `mutations.ts` opens the snapshot of its response. */

import type {
  FieldMap,
  InputFieldBuilder,
  InputFieldMap,
  InputShapeFromFields,
  ObjectFieldBuilder,
} from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { Groups } from '../../accounts/groups.ts';
import type { Task } from '../../concurrency/fair-scheduler.ts';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { Grants } from '../../folders/folder-grants.ts';
import type { SeenFolder } from '../../folders/folder-writes.ts';
import { Folders } from '../../folders/folders.ts';
import { PersonalFolders } from '../../folders/personal-folders.ts';
import { requireFolder, viewTree } from '../../folders/tree-view.ts';
import { ChangeRunner, type Caller, type Changed } from '../../journal/change-runner.ts';
import { toJournalCursor } from '../../journal/journal-entry.ts';
import { ApiKeys } from '../../sessions/manage-api-keys.ts';
import { SessionRevocations } from '../../sessions/revocation.ts';
import { Identities } from '../../sessions/single-sign-on/identities.ts';
import { SecondFactors } from '../../sessions/second-factors/manage-second-factors.ts';
import { Users } from '../../sessions/manage-users.ts';
import { Views } from '../../sessions/view-as.ts';
import {
  builder,
  type ExtendedTypes,
  type GraphContext,
  type GraphServices,
  type ObjectRefOf,
} from './builder.ts';

export type Domain = ReturnType<typeof createDomain>;

export function createDomain(services: GraphServices) {
  const { database, clock, accessCache, limits, trashDays } = services;
  const changes = new ChangeRunner(database, clock, accessCache);
  return {
    folders: new Folders(changes, { ...limits, trashDays }),
    grants: new Grants(changes),
    personalFolders: new PersonalFolders(changes),
    groups: new Groups(changes),
    users: new Users(changes, services),
    sessions: new SessionRevocations(changes),
    identities: new Identities(changes, services.singleSignOn, services.secondFactors),
    apiKeys: new ApiKeys(changes, (transaction, access, folderId) =>
      requireFolder(viewTree(transaction, access), folderId),
    ),
    secondFactors: new SecondFactors(changes, { ...services.secondFactors, passwords: services.passwords }),
    views: new Views(changes, services.viewTokens),
  };
}

/** The context for reading the payload of a mutation, and what happened between the commit and the snapshot of the response. */
export interface MutationResponse {
  readonly context: GraphContext;
  /** No other change was made. */
  readonly isLatest: boolean;
  /** No access was changed, and no folder was moved, deleted or restored. */
  readonly isAccessSame: boolean;
}

/** The context of a root field while it is executed. */
export interface MutationField {
  readonly domain: Domain;
  readonly caller: Caller;
  readonly task: Task;
  /**
   * Opens the snapshot that the response is read from. With `seen`, the change itself may have read the whole response; then no
   * snapshot is opened.
   */
  openResponse(
    commitInfo: Omit<Changed<unknown>, 'result'>,
    seen: SeenFolder | undefined,
  ): Promise<MutationResponse>;
}

/** The context that graphql-js passes to all fields of a request with mutations. `schema.ts` replaces it. */
export abstract class MutationContext {
  abstract beginField(info: GraphQLResolveInfo, input: unknown): MutationField;
  /** The context of a field below a root field. */
  abstract contextFor(info: GraphQLResolveInfo): GraphContext;
}

interface Mutation<Fields extends InputFieldMap, Result, Payload> {
  readonly description: string;
  readonly input: (t: InputFieldBuilder<ExtendedTypes, 'InputObject'>) => Fields;
  readonly change: (
    domain: Domain,
    caller: Caller,
    input: InputShapeFromFields<Fields>,
    task: Task,
  ) => Promise<Changed<Result>>;
  readonly seenIn?: (result: Result) => SeenFolder | undefined;
  readonly toPayload: (
    result: Result,
    response: MutationResponse,
    input: InputShapeFromFields<Fields>,
  ) => PromiseOrValue<Payload>;
  readonly payload: (t: ObjectFieldBuilder<ExtendedTypes, Payload>) => FieldMap;
  /** The types that come after all others of their kind in the schema text. */
  readonly last?: readonly ('input' | 'payload')[];
}

/**
 * Adds a field to Mutation, with the types of its only argument, `input`, and of its payload. The field can be null: an error in one
 * mutation must not remove the results of the mutations before it. TypeScript infers the types of a mutation's properties from
 * those before them, so write them in the order of `Mutation`.
 */
export function defineMutation<Fields extends InputFieldMap, Result, Payload>(
  name: string,
  mutation: Mutation<Fields, Result, Payload>,
): void {
  const { description, change, seenIn, toPayload, last = [] } = mutation;
  const typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const defineInput = () =>
    builder.inputType(`${typeName}Input`, {
      description: `The input of \`${name}\`.`,
      fields: mutation.input,
    });
  // Pothos cannot resolve the type of a generic payload.
  const definePayload = (): ObjectRefOf<unknown> =>
    builder.objectRef<Payload>(`${typeName}Payload`).implement({
      description: `The result of \`${name}\`.`,
      fields: mutation.payload,
    });
  const inputType = last.includes('input') ? undefined : defineInput();
  const payloadType = last.includes('payload') ? undefined : definePayload();
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType ?? definePayload(),
      nullable: true,
      description,
      args: {
        input: t.arg({
          type: inputType ?? defineInput(),
          required: true,
          description: 'The values of the change.',
        }),
      },
      resolve: async (_, args, context) => {
        // Pothos cannot resolve the type of a generic input. All resolvers have the same type of context, but a root field
        // receives a `MutationField`.
        const { input } = args as unknown as { input: InputShapeFromFields<Fields> };
        const field = context as unknown as MutationField;
        const { result, ...commitInfo } = await change(field.domain, field.caller, input, field.task);
        return toPayload(result, await field.openResponse(commitInfo, seenIn?.(result)), input);
      },
    }),
  );
}

/** The field `cursor` of a mutation's payload. The position in the context is the position of the mutation. */
export const changeCursor = {
  description:
    'The position of this change in the journal. Pass it as `after` to `changes` or `folderChanges` to receive only later changes.',
  resolve: (_: unknown, __: object, { position }: GraphContext) => toJournalCursor(position),
};
