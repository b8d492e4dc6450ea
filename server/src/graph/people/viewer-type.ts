/** The graph's type of who asks. */

import { readUser } from '../../accounts/users.ts';
import { whenDone } from '../../database/database.ts';
import { readSession, readSessionsOf } from '../../sessions/session-list.ts';
import type { Builder } from '../builder.ts';
import { levelOfOneSession, levelOfOneUser, SessionLevel } from './people-level.ts';
import type { PeopleTypes } from './people-types.ts';
import { present } from './present.ts';
import type { Viewer } from '../viewer.ts';

export function defineViewer(builder: Builder, { User, Session }: Pick<PeopleTypes, 'User' | 'Session'>) {
  return builder.objectRef<Viewer>('Viewer').implement({
    description: 'Who asks, and with what.',
    fields: (t) => ({
      user: t.field({
        type: User,
        resolve: ({ userId }, _, { reader }) =>
          whenDone(readUser(reader, userId), (user) => levelOfOneUser(reader, present(user))),
      }),
      session: t.field({
        type: Session,
        resolve: ({ sessionId }, _, { reader }) =>
          whenDone(readSession(reader, sessionId), (row) => levelOfOneSession(reader, present(row))),
      }),
      sessions: t.field({
        type: [Session],
        description: 'Where the user is logged in, the newest login first.',
        resolve: ({ userId }, _, { reader, clock, budget }, info) =>
          whenDone(readSessionsOf(reader, [userId], clock.now()), (sessions) => {
            const { nodes } = new SessionLevel(reader, sessions.get(userId) ?? []);
            return budget.spend(nodes, info);
          }),
      }),
      tokenExpiresAt: t.expose('tokenExpiresAt', {
        type: 'DateTime',
        description: 'When the auth token of this request ends.',
      }),
    }),
  });
}
