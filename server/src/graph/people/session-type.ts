/** The graph's type Session. It is only ever given to its own user and to administrators. */

import { whenDone } from '../../database/database.ts';
import type { SessionRefresh } from '../../sessions/session-list.ts';
import type { Builder, NamedRefOf, ObjectRefOf } from '../builder.ts';
import { personalField } from '../shared-answers.ts';
import type { SessionNode, UserNode } from './people-level.ts';
import { present } from './present.ts';

export function defineSessionRefresh(builder: Builder) {
  return builder.objectRef<SessionRefresh>('SessionRefresh').implement({
    description:
      'A refresh: a refresh token was exchanged for the next, and is spent. If it comes back within a minute, that is taken for a lost reply or a second tab; later it is taken for theft, and ends the session.',
    fields: (t) => ({
      at: t.expose('at', { type: 'DateTime' }),
      address: t.exposeString('address', { nullable: true, description: 'From where, if it is known.' }),
      agent: t.exposeString('agent', { nullable: true, description: 'By which program (`User-Agent`).' }),
      replays: t.exposeInt('replays', {
        description:
          'How often the spent token came back. What comes back is written down every ten seconds.',
      }),
      replayedAt: t.expose('replayedAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When it came back last.',
      }),
      replayAddress: t.exposeString('replayAddress', { nullable: true }),
      replayAgent: t.exposeString('replayAgent', { nullable: true }),
    }),
  });
}

export function implementSession(
  SessionType: NamedRefOf<SessionNode>,
  types: { readonly User: ObjectRefOf<UserNode>; readonly SessionRefresh: ObjectRefOf<SessionRefresh> },
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
      refreshes: t.field({
        type: [types.SessionRefresh],
        description:
          'The last 20 times that the token pair was replaced within seven days, the newest first.',
        resolve: ({ session, level }, _, { budget }, info) =>
          whenDone(level.refreshesOf(session.id), (refreshes) => budget.spend(refreshes, info)),
      }),
      isCurrent: t.boolean({
        extensions: personalField,
        description: 'Whether it is the session of this request.',
        resolve: ({ session }, _, { viewer }) => session.id === viewer.sessionId,
      }),
    }),
  });
}
