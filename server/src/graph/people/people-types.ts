/** The graph's types of people: User, Group, Session and their connections. */

import type { Group as GroupRow } from '../../accounts/groups.ts';
import type { Builder } from '../builder.ts';
import { implementGroup } from './group-type.ts';
import { defineKeysetConnection } from '../lists/keyset-connection-type.ts';
import type { PageInfoRef } from '../page-info.ts';
import type { SessionNode, UserNode } from './people-level.ts';
import { defineSessionRefresh, implementSession } from './session-type.ts';
import { implementUser } from './user-type.ts';

export type PeopleTypes = ReturnType<typeof definePeopleTypes>;

export function definePeopleTypes(builder: Builder, { PageInfo }: { readonly PageInfo: PageInfoRef }) {
  // They refer to each other: first the names, then what is behind them.
  const User = builder.objectRef<UserNode>('User');
  const Group = builder.objectRef<GroupRow>('Group');
  const Session = builder.objectRef<SessionNode>('Session');
  const UserConnection = defineKeysetConnection(builder, { PageInfo, Node: User, plural: 'users' });
  const GroupConnection = defineKeysetConnection(builder, { PageInfo, Node: Group, plural: 'groups' });
  const SessionConnection = defineKeysetConnection(builder, { PageInfo, Node: Session, plural: 'sessions' });

  implementUser(User, { GroupConnection, SessionConnection });
  implementGroup(Group, { UserConnection });
  implementSession(Session, { User, SessionRefresh: defineSessionRefresh(builder) });
  return { User, Group, Session, UserConnection, GroupConnection, SessionConnection };
}
