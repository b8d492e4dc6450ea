/** The graph's type Session. It is only ever given to its own user and to administrators. */

import { whenDone } from '../../database/database.ts';
import type { NamedRefOf, ObjectRefOf } from '../builder.ts';
import type { SessionNode, UserNode } from './people-level.ts';
import { present } from './present.ts';

export function implementSession(
  SessionType: NamedRefOf<SessionNode>,
  types: { readonly User: ObjectRefOf<UserNode> },
): void {
  SessionType.implement({
    description: 'One login, for as long as it is refreshed.',
    fields: (t) => ({
      id: t.id({ resolve: ({ session }) => session.id }),
      user: t.field({
        type: types.User,
        description: 'Who logged in.',
        resolve: ({ session, level }) => whenDone(level.userOf(session.userId), present),
      }),
      createdAt: t.field({
        type: 'DateTime',
        description: 'When the user logged in.',
        resolve: ({ session }) => session.createdAt,
      }),
      refreshedAt: t.field({
        type: 'DateTime',
        description: 'The last use: when the token pair was last replaced, or first issued.',
        resolve: ({ session }) => session.refreshedAt,
      }),
      expiresAt: t.field({
        type: 'DateTime',
        description: 'When the refresh token ends, unless it is exchanged before.',
        resolve: ({ session }) => session.expiresAt,
      }),
      address: t.string({
        nullable: true,
        description: 'The IP address of the last use, if it is known.',
        resolve: ({ session }) => session.address,
      }),
      agent: t.string({
        nullable: true,
        description: 'The device: what the program of the last use calls itself (`User-Agent`).',
        resolve: ({ session }) => session.agent,
      }),
      isCurrent: t.boolean({
        description: 'Whether it is the session of this request.',
        resolve: ({ session }, _, { viewer }) => session.id === viewer.sessionId,
      }),
    }),
  });
}
