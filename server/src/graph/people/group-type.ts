/** The graph's type Group. */

import type { Group } from '../../accounts/groups.ts';
import type { NamedRefOf, ObjectRefOf } from '../builder.ts';
import { requireAdministrator } from '../../accounts/administrator.ts';
import { pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection } from '../lists/keyset-connection.ts';
import type { UserNode } from './people-level.ts';
import { userList } from './people-lists.ts';

export function implementGroup(
  GroupType: NamedRefOf<Group>,
  types: { readonly UserConnection: ObjectRefOf<KeysetConnection<UserNode>> },
): void {
  GroupType.implement({
    description: 'Users who are given access together.',
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', {
        description: 'Unique among groups, without regard to upper and lower case.',
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      members: t.field({
        type: types.UserConnection,
        nullable: true,
        description:
          'Who is in the group, in the order of user names. Only for administrators: null otherwise, with the error FORBIDDEN.',
        args: {
          first: t.arg.int({ description: pageDescriptions.first }),
          after: t.arg.string({ description: pageDescriptions.after }),
        },
        resolve: ({ id }, args, { access, reader }) => {
          requireAdministrator(access);
          return new KeysetConnection(userList(reader, { groupId: id }), args);
        },
      }),
    }),
  });
}
