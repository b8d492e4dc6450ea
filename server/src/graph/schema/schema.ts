/** The graph schema. Its text is kept in `contract/schema.graphql`, for clients and for review. */

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
import { defineExplainAccess } from './folders/access-explanation.ts';
import { createBuilder } from './builder.ts';
import { defineFolderChange } from './journal/folder-change.ts';
import { defineFolderChanges } from './journal/folder-change.ts';
import { defineJournal } from './journal/journal.ts';
import { defineJournalSubscription } from './journal/journal.ts';
import { defineFolderMutations } from './folders/folder-mutations.ts';
import { defineFolderQueries } from './folders/folder-queries.ts';
import { defineFolder } from './folders/folder.ts';
import { defineGrantMutations } from './folders/grant.ts';
import { defineGrant } from './folders/grant.ts';
import { defineImport } from './folders/folder-mutations.ts';
import { definePageInfo } from './connections/keyset-connection.ts';
import { definePeopleTypes } from './people/people.ts';
import { definePeople } from './people/people.ts';
import { defineMove } from './folders/folder-move.ts';
import { defineTrash } from './folders/trash.ts';
import { MutationRun } from '../run-mutation.ts';
import { defineServer } from './server/server-info.ts';
import { defineViewer } from './people/viewer.ts';

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
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
  const grants = defineGrant(builder, tree, people, { PageInfo });
  defineExplainAccess(builder, tree, people, grants);
  defineGrantMutations(builder, tree);
  definePeople(builder, people);
  const FolderChange = defineFolderChange(builder, tree, people);
  defineFolderChanges(builder, { FolderChange });
  const journal = defineJournal(builder, tree, people, { PageInfo });
  defineJournalSubscription(builder, journal);
  defineServer(builder);

  const schema = builder.toSchema({
    sortSchema: false,
    directives: specifiedDirectives.map(withoutDraftLocations),
  });
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      exchangeContext(field, type === schema.getMutationType());
      failWithAPromise(field);
    }
  }
  return schema;
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
 * Of a list in which one element fails at once, graphql-js forgets those that are not there yet. If they fail, too, nobody
 * hears of it, and that ends the process. So nothing fails at once.
 */
function failWithAPromise(field: GraphQLField<unknown, unknown>): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, given, context, info) => {
    try {
      return resolve(source, given, context, info);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/** Passes each field of a mutation its own context. */
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
