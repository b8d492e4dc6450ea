/** The graph's type of who asks. */

import { readUser } from '../../accounts/users.ts';
import { whenDone } from '../../database/database.ts';
import { readSession } from '../../sessions/session-list.ts';
import type { Builder } from '../builder.ts';
import { pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection } from '../lists/keyset-connection.ts';
import { levelOfOneSession, levelOfOneUser } from './people-level.ts';
import { sessionListOf, sessionPages } from './people-lists.ts';
import type { PeopleTypes } from './people-types.ts';
import { present } from './present.ts';
import type { Viewer } from '../viewer.ts';

export function defineViewer(builder: Builder, { User, Session, SessionConnection }: PeopleTypes) {
  return builder.objectRef<Viewer>('Viewer').implement({
    description: 'Who asks, and with what.',
    fields: (t) => ({
      user: t.field({
        type: User,
        resolve: ({ userId }, _, { reader }) =>
          whenDone(readUser(reader, userId), (user) => levelOfOneUser(present(user))),
      }),
      session: t.field({
        type: Session,
        resolve: ({ sessionId }, _, { reader }) =>
          whenDone(readSession(reader, sessionId), (row) => levelOfOneSession(reader, present(row))),
      }),
      sessions: t.field({
        type: SessionConnection,
        description: 'Where the user is logged in, the newest login first.',
        args: {
          first: t.arg.int({ description: pageDescriptions.first }),
          after: t.arg.string({ description: pageDescriptions.after }),
        },
        resolve: ({ userId }, args, { reader, clock, budget }, info) => {
          const pages = sessionPages(reader, [userId], clock.now());
          return new KeysetConnection(sessionListOf(userId, pages, { budget, info }), args);
        },
      }),
      tokenExpiresAt: t.expose('tokenExpiresAt', {
        type: 'DateTime',
        description: 'When the auth token of this request ends.',
      }),
    }),
  });
}
