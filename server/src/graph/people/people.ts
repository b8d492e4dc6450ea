/** What can be asked and done about people: who there is, who is logged in, and changing it. */

import type { Builder } from '../builder.ts';
import { defineGroupMutations } from './group-mutations.ts';
import { definePasswordMutations } from './password-mutations.ts';
import { definePeopleQueries } from './people-queries.ts';
import type { PeopleTypes } from './people-types.ts';
import { defineSessionMutations } from './session-mutations.ts';
import { defineUserMutations } from './user-mutations.ts';

/** Adds its fields to Query and Mutation. */
export function definePeople(builder: Builder, types: PeopleTypes): void {
  definePeopleQueries(builder, types);
  defineUserMutations(builder, types);
  definePasswordMutations(builder);
  defineGroupMutations(builder, types);
  defineSessionMutations(builder);
}
