/** The graph's types of who asks: Viewer, User and Session. */

import { readUser, type User } from '../accounts/accounts.ts';
import { Refusal } from '../refusal.ts';
import { readSession, type Session } from '../sessions/sessions.ts';
import type { Builder } from './builder.ts';
import type { Viewer } from './viewer.ts';

export function defineViewer(builder: Builder) {
  const UserType = builder.objectRef<User>('User').implement({
    description: 'Somebody who can log in.',
    fields: (t) => ({
      id: t.exposeID('id'),
      username: t.exposeString('username'),
      isAdministrator: t.exposeBoolean('isAdministrator'),
    }),
  });

  const SessionType = builder.objectRef<Session>('Session').implement({
    description: 'One login, for as long as it is refreshed.',
    fields: (t) => ({
      id: t.exposeID('id'),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user logged in.' }),
      refreshedAt: t.expose('refreshedAt', {
        type: 'DateTime',
        description: 'When the token pair was last replaced, or first issued.',
      }),
      expiresAt: t.expose('expiresAt', {
        type: 'DateTime',
        description: 'When the refresh token ends, unless it is exchanged before.',
      }),
    }),
  });

  return builder.objectRef<Viewer>('Viewer').implement({
    description: 'Who asks, and with what.',
    fields: (t) => ({
      user: t.field({
        type: UserType,
        resolve: async ({ userId }, _, { database }) => present(await readUser(database, userId)),
      }),
      session: t.field({
        type: SessionType,
        resolve: async ({ sessionId }, _, { database }) => present(await readSession(database, sessionId)),
      }),
      tokenExpiresAt: t.expose('tokenExpiresAt', {
        type: 'DateTime',
        description: 'When the auth token of this request ends.',
      }),
    }),
  });
}

/** An auth token outlives what it was issued for. */
function present<T>(found: T | undefined): T {
  if (!found) throw new Refusal('NOT_FOUND', 'It no longer exists.');
  return found;
}
