/** The types User, Group, Session and Viewer. Viewers see only the name of other users; administrators see everything. */

import type { Access } from '../../../access/access.ts';
import { readUser, requireAdministrator } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { Refusal } from '../../../refusal.ts';
import { effectiveUserId, type Viewer as ViewerShape } from '../../../sessions/auth-token.ts';
import { readSession, type SessionRefresh as RefreshRow } from '../../../sessions/session-reads.ts';
import { personalField } from '../../field-marks.ts';
import {
  builder,
  Group,
  GroupConnection,
  Session,
  SessionConnection,
  User,
  UserConnection,
  type GraphContext,
} from '../builder.ts';
import { chargeList } from '../charges.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection } from '../connections/relay-connection.ts';
import {
  groupOrder,
  groupsOfUsers,
  requireExisting,
  sessionOrder,
  sessionsOfUsers,
  toSessionNodes,
  toUserNode,
  userList,
  type UserNode,
} from './people-batch.ts';

defineConnection(User, 'users', { Connection: UserConnection });
defineConnection(Group, 'groups', { Connection: GroupConnection });
defineConnection(Session, 'sessions', { Connection: SessionConnection });

export const forAdministrators =
  'Only for administrators. For other users, the field is null with the error FORBIDDEN.';
export const forAdministratorsAndSelf =
  'Only for administrators and the user. For other users, the field is null with the error FORBIDDEN.';

/** The options of a field that only administrators and the user see. */
function detail<T>(description: string, read: (user: UserNode) => T) {
  return {
    extensions: personalField,
    nullable: true as const,
    description: description + forAdministratorsAndSelf,
    resolve: (user: UserNode, _: object, { access }: GraphContext) => read(requireDetails(user, access)),
  };
}

User.implement({
  description: 'A user who can log in.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    username: t.exposeString('username', {
      description: 'The user name. No two users have names that differ only in case.',
    }),
    isAdministrator: t.boolean(
      detail(
        'Whether the user is an administrator, who has all rights. ',
        ({ isAdministrator }) => isAdministrator,
      ),
    ),
    isDisabled: t.boolean(
      detail(
        'Whether the user is disabled. A disabled user cannot log in and has no sessions. ',
        ({ disabledAt }) => disabledAt !== null,
      ),
    ),
    createdAt: t.field({
      type: 'DateTime',
      ...detail('When the user was created. ', ({ createdAt }) => createdAt),
    }),
    lastLoginAt: t.field({
      type: 'DateTime',
      ...detail('The time of the last login. Null if there was none. ', ({ lastLoginAt }) => lastLoginAt),
    }),
    groups: t.field({
      extensions: personalField,
      type: GroupConnection,
      nullable: true,
      description: `The groups of the user, ordered by name. ${forAdministratorsAndSelf}`,
      args: pageArguments(t.arg),
      resolve: (user, page, { access, reader, budget }, info) => {
        const { id, batch } = requireDetails(user, access);
        const groups = batch.readOnce('groups', () => groupsOfUsers(reader, readableIds(user, access)));
        return groups.connect(id, groupOrder, page, { budget, info });
      },
    }),
    sessions: t.field({
      extensions: personalField,
      type: SessionConnection,
      nullable: true,
      description: `The active sessions of the user, newest login first. FORBIDDEN in a view. ${forAdministratorsAndSelf}`,
      args: pageArguments(t.arg),
      resolve: (user, page, { access, reader, budget, clock, viewer }, info) => {
        requireNoView(viewer);
        const { id, batch } = requireDetails(user, access);
        const sessions = batch.readOnce('sessions', () =>
          sessionsOfUsers(reader, readableIds(user, access), clock.now()),
        );
        return sessions.connect(id, sessionOrder, page, { budget, info });
      },
    }),
  }),
});

/** The users of the batch whose details the viewer may read. */
export function readableIds({ batch }: UserNode, access: Access): readonly string[] {
  const ids = batch.nodes.map(({ id }) => id);
  return access.isAdministrator ? ids : ids.filter((id) => id === access.userId);
}

/** Refuses a viewer who may see only the user's name. */
export function requireDetails(user: UserNode, access: Access): UserNode {
  if (user.id === access.userId || access.isAdministrator) return user;
  throw new Refusal('FORBIDDEN', 'Only administrators may read this field of other users.');
}

/** Refuses to list sessions in a view, because addresses and devices are not part of the tree. */
export function requireNoView({ view }: ViewerShape): void {
  if (view)
    throw new Refusal(
      'FORBIDDEN',
      'You cannot list sessions while you view the tree as another user. Leave the view first.',
    );
}

Group.implement({
  description: 'A group of users. A grant to the group applies to all members.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    name: t.exposeString('name', {
      description: 'The name. No two groups have names that differ only in case.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the group was created.' }),
    members: t.field({
      type: UserConnection,
      nullable: true,
      description: `The members of the group, ordered by user name. ${forAdministrators}`,
      args: pageArguments(t.arg),
      resolve: ({ id }, page, { access, reader }) => {
        requireAdministrator(access);
        return new KeysetConnection(userList(reader, { groupId: id }), page);
      },
    }),
  }),
});

const SessionRefresh = builder.objectRef<RefreshRow>('SessionRefresh').implement({
  description:
    'The exchange of a refresh token for new tokens. The old token is then spent. If a client sends it again within one minute (by default), the server assumes a lost response or a second tab. Later, it assumes theft and ends the session.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The time of the exchange.' }),
    address: t.exposeString('address', { nullable: true, description: 'The IP address, if known.' }),
    agent: t.exposeString('agent', { nullable: true, description: 'The `User-Agent` header.' }),
    replays: t.exposeInt('replays', {
      description:
        'How often clients sent the spent token again. The server updates this number every ten seconds.',
    }),
    replayedAt: t.expose('replayedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last replay.',
    }),
    replayAddress: t.exposeString('replayAddress', {
      nullable: true,
      description: 'The IP address of the last replay, if known.',
    }),
    replayAgent: t.exposeString('replayAgent', {
      nullable: true,
      description: 'The `User-Agent` header of the last replay.',
    }),
  }),
});

/** Only administrators and the session's user receive a Session. */
Session.implement({
  description: 'The period from a login until the client logs out or stops refreshing its tokens.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    user: t.field({ type: User, description: 'The user who logged in.', resolve: ({ user }) => user() }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The time of the login.' }),
    refreshedAt: t.expose('refreshedAt', {
      type: 'DateTime',
      description: 'The last use: the time of the last refresh, or of the login.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the current refresh token expires. Each refresh moves this time.',
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'The IP address of the last use, if known.',
    }),
    agent: t.exposeString('agent', {
      nullable: true,
      description: 'The `User-Agent` header of the last use, which identifies the device.',
    }),
    refreshes: t.field({
      type: [SessionRefresh],
      description: 'The last 20 refreshes within seven days, newest first.',
      resolve: chargeList(({ refreshes }) => refreshes()),
    }),
    isCurrent: t.boolean({
      extensions: personalField,
      description: 'Whether this is the session of the request.',
      resolve: ({ id }, _, { viewer }) => id === viewer.sessionId,
    }),
  }),
});

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'The authenticated user of the request, with the session and the auth token.',
  fields: (t) => ({
    user: t.field({
      type: User,
      description: 'The user whose rights apply to the request. In a view, the viewed user.',
      resolve: (viewer, _, { reader }) =>
        whenDone(readUser(reader, effectiveUserId(viewer)), (user) => toUserNode(requireExisting(user))),
    }),
    viewedBy: t.field({
      type: User,
      nullable: true,
      description:
        'The administrator who views the tree as `user`, in a request with a view token of `startViewAs`. Otherwise null.',
      resolve: ({ userId, view }, _, { reader }) =>
        view ? whenDone(readUser(reader, userId), (user) => toUserNode(requireExisting(user))) : null,
    }),
    session: t.field({
      type: Session,
      description: 'The session of the request. In a view, the session of the administrator.',
      resolve: ({ sessionId }, _, { reader }) =>
        whenDone(readSession(reader, sessionId), (row) => toSessionNodes(reader, [requireExisting(row)])[0]!),
    }),
    sessions: t.field({
      type: SessionConnection,
      description: 'The active sessions of the user, newest login first. FORBIDDEN in a view.',
      args: pageArguments(t.arg),
      resolve: (viewer, page, { reader, clock, budget }, info) => {
        requireNoView(viewer);
        const { userId } = viewer;
        return sessionsOfUsers(reader, [userId], clock.now()).connect(userId, sessionOrder, page, {
          budget,
          info,
        });
      },
    }),
    tokenExpiresAt: t.expose('tokenExpiresAt', {
      type: 'DateTime',
      description: 'When the auth token of this request expires.',
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The authenticated user of the request (yourself), with the session.',
    resolve: (_, __, { viewer }) => viewer,
  }),
);
