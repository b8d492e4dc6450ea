/** The types User, Group, Session and Viewer. Viewers see only the name of other users; administrators see everything. */

import type { Access } from '../../../access/access.ts';
import { readUser, requireAdministrator } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { Refusal } from '../../../refusal.ts';
import { rightsHolderOf, type Viewer as ViewerShape } from '../../../sessions/auth-token.ts';
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
/** Describes a field that calls `requireAccountDetails()`. */
export const notInViewOrKey = 'FORBIDDEN in a view, and for API keys that do not act as administrator.';

/** The options of a field that only administrators and the user see. */
function detail<T>(description: string, read: (user: UserNode) => T) {
  return {
    extensions: personalField,
    nullable: true as const,
    description: description + forAdministratorsAndSelf,
    resolve: (user: UserNode, _: object, { access }: GraphContext) => read(requireDetails(user, access)),
  };
}

export const UserKind = builder.enumType('UserKind', {
  description: 'Whether a user is a person or a program.',
  values: {
    PERSON: { description: 'A person, who can log in.' },
    SERVICE: {
      description: 'A service account: a program with API keys. It has no password and no sessions.',
    },
  } as const,
});

User.implement({
  description: 'A person who can log in, or a service account.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    kind: t.expose('kind', { type: UserKind, description: 'Whether the user is a person or a program.' }),
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
    hasSecondFactor: t.boolean(
      detail(
        'Whether the user has a second factor, so that the password alone is not enough to log in. ',
        ({ secondFactorAt }) => secondFactorAt !== null,
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
      description: `The active sessions of the user, newest login first. ${notInViewOrKey} ${forAdministratorsAndSelf}`,
      args: pageArguments(t.arg),
      resolve: (user, page, { access, reader, budget, clock, viewer }, info) => {
        requireAccountDetails(viewer, access);
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
  return access.isAdministrator ? ids : ids.filter((id) => access.isSelf(id));
}

/** Refuses a viewer who may see only the user's name. */
export function requireDetails(user: UserNode, access: Access): UserNode {
  if (access.isSelf(user.id) || access.isAdministrator) return user;
  if (user.id === access.userId)
    throw new Refusal('FORBIDDEN', 'An API key for one folder may not read this field of its user.');
  throw new Refusal('FORBIDDEN', 'Only administrators may read this field of other users.');
}

/**
 * Refuses an API key that does not act as administrator, so that a stolen key does not reveal addresses and devices. Refuses a view,
 * because these details are not part of the tree.
 */
export function requireAccountDetails({ view, sessionId }: ViewerShape, access: Access): void {
  if (sessionId === undefined && !access.isAdministrator) {
    throw new Refusal(
      'FORBIDDEN',
      'An API key can read sessions, sign-ins, linked accounts and API keys only if it acts as administrator.',
    );
  }
  if (view)
    throw new Refusal(
      'FORBIDDEN',
      'You cannot read this while you view the tree as another user. Leave the view first.',
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
        whenDone(readUser(reader, rightsHolderOf(viewer).userId), (user) =>
          toUserNode(requireExisting(user)),
        ),
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
      nullable: true,
      description:
        'The session of the request. In a view, the session of the administrator. Null for a request with an API key.',
      resolve: ({ sessionId }, _, { reader }) =>
        sessionId === undefined
          ? null
          : whenDone(
              readSession(reader, sessionId),
              (row) => toSessionNodes(reader, [requireExisting(row)])[0]!,
            ),
    }),
    sessions: t.field({
      type: SessionConnection,
      description: `The active sessions of the user, newest login first. ${notInViewOrKey}`,
      args: pageArguments(t.arg),
      resolve: (viewer, page, { access, reader, clock, budget }, info) => {
        requireAccountDetails(viewer, access);
        const { userId } = viewer;
        return sessionsOfUsers(reader, [userId], clock.now()).connect(userId, sessionOrder, page, {
          budget,
          info,
        });
      },
    }),
    tokenExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the auth token or the API key of this request expires. Null for a key without an expiry.',
      resolve: ({ tokenExpiresAt }) => (Number.isFinite(tokenExpiresAt) ? tokenExpiresAt : null),
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
