/** The type Viewer: the authenticated user of a request. */

import { readUser } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { readSession } from '../../../sessions/list-sessions.ts';
import type { Builder } from '../builder.ts';
import { KeysetConnection, pageArguments } from '../connections/keyset-connection.ts';
import { requireExisting, toSessionNode, toUserNode } from './people-batch.ts';
import { sessionListOf, sessionPages } from './people-lists.ts';
import type { PeopleTypes } from './people.ts';
import type { Viewer } from '../../../sessions/viewer.ts';

export function defineViewer(builder: Builder, { User, Session, SessionConnection }: PeopleTypes) {
  return builder.objectRef<Viewer>('Viewer').implement({
    description: 'Who asks, and with what.',
    fields: (t) => ({
      user: t.field({
        type: User,
        resolve: ({ userId }, _, { reader }) =>
          whenDone(readUser(reader, userId), (user) => toUserNode(requireExisting(user))),
      }),
      session: t.field({
        type: Session,
        resolve: ({ sessionId }, _, { reader }) =>
          whenDone(readSession(reader, sessionId), (row) => toSessionNode(reader, requireExisting(row))),
      }),
      sessions: t.field({
        type: SessionConnection,
        description: 'Where the user is logged in, the newest login first.',
        args: pageArguments(t.arg),
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
