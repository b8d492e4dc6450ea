/** The type Session and the mutations that end sessions. Only administrators and the session's user receive a Session. */

import { whenDone } from '../../../concurrency/promise-or-value.ts';
import type { SessionRefresh as RefreshRow } from '../../../sessions/list-sessions.ts';
import { defineMutation, type Builder, type NamedRefOf, type ObjectRefOf } from '../builder.ts';
import { personalField } from '../../document-fields.ts';
import { requireExisting, type SessionNode, type UserNode } from './people-batch.ts';
import { change } from '../../mutations.ts';

export function defineSessionRefresh(builder: Builder) {
  return builder.objectRef<RefreshRow>('SessionRefresh').implement({
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
  Session: NamedRefOf<SessionNode>,
  {
    User,
    SessionRefresh,
  }: { readonly User: ObjectRefOf<UserNode>; readonly SessionRefresh: ObjectRefOf<RefreshRow> },
): void {
  Session.implement({
    description: 'One login, for as long as it is refreshed.',
    fields: (t) => ({
      id: t.id({ resolve: ({ session }) => session.id }),
      user: t.field({
        type: User,
        description: 'Who logged in.',
        resolve: ({ session, batch }) => whenDone(batch.userOf(session.userId), requireExisting),
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
        type: [SessionRefresh],
        description:
          'The last 20 times that the token pair was replaced within seven days, the newest first.',
        resolve: ({ session, batch }, _, { budget }, info) =>
          whenDone(batch.refreshesOf(session.id), (refreshes) => budget.spend(refreshes, info)),
      }),
      isCurrent: t.boolean({
        extensions: personalField,
        description: 'Whether it is the session of this request.',
        resolve: ({ session }, _, { viewer }) => session.id === viewer.sessionId,
      }),
    }),
  });
}

export function defineSessionMutations(builder: Builder): void {
  defineMutation(builder, 'revokeSession', {
    type: builder.objectRef<{ readonly revokedSessionId: string }>('RevokeSessionPayload').implement({
      fields: (t) => ({ revokedSessionId: t.exposeID('revokedSessionId') }),
    }),
    description:
      "Ends a session: its refresh token is useless at once. NOT_FOUND if it has ended already, and if it is somebody else's and the viewer is no administrator.",
    input: builder.inputType('RevokeSessionInput', { fields: (t) => ({ id: t.id({ required: true }) }) }),
    resolve: ({ id }, context) =>
      change(
        context,
        ({ sessions }, caller) => sessions.revoke(caller, id),
        () => ({ revokedSessionId: id }),
      ),
  });

  defineMutation(builder, 'revokeSessions', {
    type: builder.objectRef<{ readonly endedSessions: number }>('RevokeSessionsPayload').implement({
      fields: (t) => ({
        endedSessions: t.exposeInt('endedSessions', { description: 'How many sessions were ended.' }),
      }),
    }),
    description: 'Ends all sessions of a user, or all others than the one of this request.',
    input: builder.inputType('RevokeSessionsInput', {
      fields: (t) => ({
        userId: t.id({ description: "Whose sessions; without it, one's own. Of others for administrators." }),
        keepCurrent: t.boolean({
          required: true,
          defaultValue: false,
          description: 'Whether the session of this request goes on.',
        }),
      }),
    }),
    resolve: (input, context) =>
      change(
        context,
        ({ sessions }, caller) => sessions.revokeAll(caller, input),
        (endedSessions) => ({ endedSessions }),
      ),
  });
}
