/** The GraphQL schema. `contract/schema.graphql` holds its text, for clients and for review. */

import {
  defaultFieldResolver,
  DirectiveLocation,
  GraphQLDirective,
  isIntrospectionType,
  isObjectType,
  specifiedDirectives,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { MutationRun } from '../mutations.ts';
import { createBuilder, type Builder } from './builder.ts';
import { definePageInfo } from './connections/keyset-connection.ts';
import { defineExplainAccess } from './folders/access-explanation.ts';
import { defineMove } from './folders/folder-move.ts';
import { defineFolderMutations, defineImport } from './folders/folder-mutations.ts';
import { defineFolderQueries } from './folders/folder-queries.ts';
import { defineFolder } from './folders/folder.ts';
import { defineGrant, defineGrantMutations } from './folders/grant.ts';
import { defineRestore, defineTrash } from './folders/trash.ts';
import { defineChangesQuery, defineFolderChange, defineFolderSubscription } from './journal/folder-change.ts';
import { defineJournal, defineJournalSubscription } from './journal/journal.ts';
import { definePeople, definePeopleTypes } from './people/people.ts';
import { defineViewer } from './people/viewer.ts';
import { defineServer } from './server/server-info.ts';

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  defineTypes(builder);
  const schema = builder.toSchema({
    sortSchema: false,
    directives: specifiedDirectives.map(withoutDraftLocations),
  });
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      exchangeContext(field, type === schema.getMutationType());
      rejectInsteadOfThrow(field);
    }
  }
  return schema;
}

/** The order of these calls is the order of the types and fields in the schema text. */
function defineTypes(builder: Builder): void {
  const PageInfo = definePageInfo(builder);
  const tree = defineFolder(builder, { PageInfo });
  const people = definePeopleTypes(builder, { PageInfo });
  const Viewer = defineViewer(builder, people);

  builder.queryType({
    fields: (t) => ({ viewer: t.field({ type: Viewer, resolve: (_, __, { viewer }) => viewer }) }),
  });
  builder.mutationType({
    description: 'Each mutation is a transaction of its own; several in one request run one after the other.',
  });

  defineFolderQueries(builder, tree);
  defineFolderMutations(builder, tree);
  defineMove(builder, tree, people, { PageInfo });
  defineImport(builder, tree);
  defineTrash(builder, tree, { PageInfo });
  defineRestore(builder, tree);
  const grants = defineGrant(builder, tree, people, { PageInfo });
  defineExplainAccess(builder, tree, people, grants);
  defineGrantMutations(builder, tree);
  definePeople(builder, people);
  const FolderChange = defineFolderChange(builder, tree, people);
  defineChangesQuery(builder, { FolderChange });
  defineFolderSubscription(builder, { FolderChange });
  const journal = defineJournal(builder, tree, people, { PageInfo });
  defineJournalSubscription(builder, journal);
  defineServer(builder);
}

/**
 * graphql-js 16.14 and later list the draft location DIRECTIVE_DEFINITION for `@deprecated`. Tools that predate it reject the
 * introspection result, for example graphql-core 3.2.10 and graphql-js 16.11.
 */
function withoutDraftLocations(directive: GraphQLDirective): GraphQLDirective {
  const { locations, ...config } = directive.toConfig();
  return new GraphQLDirective({
    ...config,
    locations: locations.filter((location) => location !== DirectiveLocation.DIRECTIVE_DEFINITION),
  });
}

/**
 * When one element of a list throws synchronously, graphql-js drops the promises of the other elements. If they reject later, the
 * rejection is unhandled and ends the process. So every field rejects a promise instead.
 */
function rejectInsteadOfThrow(field: GraphQLField<unknown, unknown>): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, args, context, info) => {
    try {
      return resolve(source, args, context, info);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/** Passes each field of a mutation the context of its root field. */
function exchangeContext(field: GraphQLField<unknown, unknown>, isMutation: boolean): void {
  const { resolve } = field;
  if (!resolve) return;
  field.resolve = (source, args, context, info) => {
    if (!(context instanceof MutationRun)) return resolve(source, args, context, info);
    return resolve(
      source,
      args,
      isMutation ? context.beginField(info, args) : context.contextFor(info),
      info,
    );
  };
}
