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
import { builder } from './builder.ts';
import { MutationContext } from './mutation.ts';
// Each of these files adds its types to the builder. Their order is the order of types and fields in the schema text.
import './connections/relay-connection-types.ts';
import './folders/folder.ts';
import './people/people-types.ts';
import './folders/folder-queries.ts';
import './folders/folder-mutations.ts';
import './folders/folder-move.ts';
import './folders/folder-import.ts';
import './folders/trash.ts';
import './folders/grant.ts';
import './folders/personal-folders.ts';
import './people/people-queries.ts';
import './people/people-mutations.ts';
import './people/sign-ins.ts';
import './people/api-keys.ts';
import './people/identities.ts';
import './people/second-factors.ts';
import './people/second-factor-mutations.ts';
import './journal/folder-change.ts';
import './journal/journal.ts';
import './server-info.ts';

export function createSchema(): GraphQLSchema {
  const schema = builder.toSchema({
    sortSchema: false,
    directives: specifiedDirectives.map(withoutDraftLocations),
  });
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      wrapResolver(field, type === schema.getMutationType());
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
 * In a mutation, gives each root field its own context, which the fields below it share. Also makes every field return a
 * rejected promise instead of throwing. When one element of a list throws synchronously, graphql-js drops the promises of the
 * other elements. If one of these rejects later, the unhandled rejection ends the process.
 */
function wrapResolver(field: GraphQLField<unknown, unknown>, isMutation: boolean): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, args, context, info) => {
    try {
      if (!(context instanceof MutationContext)) return resolve(source, args, context, info);
      const own = isMutation ? context.beginField(info, args) : context.contextFor(info);
      return resolve(source, args, own, info);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
}
