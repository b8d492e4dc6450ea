/** The type JournalEntry, and the query and subscription `journal`, for administrators. */

import type { AccessSnapshot } from '../../../access/access-cache.ts';
import { readGroups, type Group as GroupRow } from '../../../accounts/groups.ts';
import { requireAdministrator } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { isRowId, firstId } from '../../../database/statement.ts';
import type { TreeView } from '../../../folders/tree-view.ts';
import {
  countJournal,
  fromJournalCursor,
  listJournal,
  toJournalCursor,
  type JournalEntry as Entry,
  type JournalFilter as Filter,
} from '../../../journal/journal-entry.ts';
import { JournalSubscription, requireEntriesAvailable } from '../../../journal/journal-subscription.ts';
import { Refusal } from '../../../refusal.ts';
import { startArgument } from '../../field-marks.ts';
import { ApiKey, builder, Folder, Group, User, type GraphContext } from '../builder.ts';
import { chargeText } from '../charges.ts';
import { defineConnection, pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection, toKeyNumber, type KeysetList } from '../connections/relay-connection.ts';
import { readFolderNodes, type FolderNode } from '../folders/folder-batch.ts';
import { readApiKeyNodes, type ApiKeyNode } from '../people/api-key-batch.ts';
import { readTogether, readUserNodes, type UserNode } from '../people/people-batch.ts';

/** An entry, with functions that read what all entries of the same response refer to. */
interface EntryNode extends Entry {
  readonly folderOf: (id: string | null) => PromiseOrValue<FolderNode | null>;
  readonly userOf: (id: string | null) => PromiseOrValue<UserNode | null>;
  readonly groupOf: (id: string | null) => PromiseOrValue<GroupRow | null>;
  readonly apiKeyOf: (id: string | null) => PromiseOrValue<ApiKeyNode | null>;
}

const kindTexts = {
  CREATE_FOLDER: { description: 'A folder was created.' },
  UPDATE_FOLDER: { description: 'The name or the texts of a folder changed.' },
  MOVE_FOLDER: { description: 'A folder was moved to another parent.' },
  DELETE_FOLDER: { description: 'A folder was moved to the trash, with everything inside.' },
  RESTORE_FOLDER: { description: 'A folder was restored from the trash.' },
  DUPLICATE_FOLDER: { description: 'A folder was copied, with everything inside.' },
  IMPORT_FOLDERS: { description: 'Folders were imported.' },
  PURGE_FOLDER: { description: 'A deleted folder was purged.' },
  GRANT_ACCESS: { description: 'A user or a group was granted access to a folder.' },
  REVOKE_ACCESS: { description: 'The grant of a user or a group on a folder was removed.' },
  CREATE_USER: { description: 'A user was created.' },
  UPDATE_USER: {
    description:
      'A user was renamed, disabled, enabled or converted to a service account, or the administrator role of the user was changed.',
  },
  CHANGE_PASSWORD: {
    description: 'A password was changed. If `by` and `user` differ, the password was reset.',
  },
  ENROL_SECOND_FACTOR: {
    description: 'A user set up or replaced an authenticator app, or added a passkey.',
  },
  REMOVE_SECOND_FACTOR: { description: 'A user removed an authenticator app or a passkey.' },
  RESET_SECOND_FACTOR: {
    description: 'All second factors of a user were removed by an administrator, or on the database.',
  },
  CREATE_RECOVERY_CODES: { description: 'A user created new recovery codes.' },
  USE_RECOVERY_CODE: { description: 'A user used a recovery code.' },
  DELETE_USER: { description: 'A user was deleted.' },
  CREATE_GROUP: { description: 'A group was created.' },
  UPDATE_GROUP: { description: 'A group was renamed.' },
  DELETE_GROUP: { description: 'A group was deleted.' },
  ADD_TO_GROUP: { description: 'Users were added to a group.' },
  REMOVE_FROM_GROUP: { description: 'Users were removed from a group.' },
  END_SESSION: { description: 'One session or several sessions of a user ended.' },
  ROTATE_KEY: { description: 'A new signing key was created.' },
  RETIRE_KEY: { description: 'A signing key was retired.' },
  VIEW_AS: { description: 'An administrator started a view with `startViewAs`. `user` is the viewed user.' },
  CREATE_API_KEY: { description: 'An API key was created. `user` is the user of the key.' },
  REVOKE_API_KEY: { description: 'An API key was revoked. `user` is the user of the key.' },
  LINK_IDENTITY: { description: 'A user was linked with an account of the single sign-on provider.' },
  UNLINK_IDENTITY: {
    description: 'The link of a user with an account of the single sign-on provider was removed.',
  },
} satisfies Record<Entry['kind'], { description: string }>;

const JournalKind = builder.enumType('JournalKind', {
  description: 'The kind of a change in the journal.',
  values: kindTexts,
});

const JournalEntry = builder.objectRef<EntryNode>('JournalEntry').implement({
  description:
    'A change of the server. The numbers of the entries have no gaps and are in the order of the changes.',
  fields: (t) => ({
    number: t.exposeFloat('number', {
      description: 'The number of the entry: a whole number, which may be larger than an Int.',
    }),
    cursor: t.string({
      description:
        'For the argument `after` of `changes`, `folderChanges` and the subscription `journal`. The query `journal` has other cursors, in its edges.',
      resolve: (entry) => toJournalCursor(entry),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'The time of the change.' }),
    kind: t.expose('kind', { type: JournalKind, description: 'The kind of the change.' }),
    byId: t.exposeID('byUserId', {
      nullable: true,
      description: 'The id of the user who made the change. Null for the server itself.',
    }),
    by: t.field({
      type: User,
      nullable: true,
      description: 'The user who made the change. Also null if the user no longer exists.',
      resolve: ({ byUserId, userOf }) => userOf(byUserId),
    }),
    byApiKeyId: t.exposeID('byApiKeyId', {
      nullable: true,
      description: 'The id of the API key with which the change was made. Null for an auth token.',
    }),
    byApiKey: t.field({
      type: ApiKey,
      nullable: true,
      description:
        'The API key with which the change was made. Null for an auth token, and 90 days after the key has ended.',
      resolve: ({ byApiKeyId, apiKeyOf }) => apiKeyOf(byApiKeyId),
    }),
  }),
});

builder.objectFields(JournalEntry, (t) => ({
  folderId: t.exposeID('folderId', {
    nullable: true,
    description: 'The id of the changed folder. For an import, the folder that contains the new folders.',
  }),
  folder: t.field({
    type: Folder,
    nullable: true,
    description: 'The current state of the folder. Null if it is no longer in the tree.',
    resolve: ({ folderId, folderOf }) => folderOf(folderId),
  }),
  ancestorIds: t.idList({
    nullable: true,
    description:
      'The ids of the ancestors at the time of the change, from the root to the parent. For a move, the ancestors after the move. Null for changes of other kinds, for example grants.',
    resolve: ({ pathIds }) => pathIds?.slice(0, -1),
  }),
  formerAncestorIds: t.idList({
    nullable: true,
    description: 'For a move: the ids of the ancestors before the move.',
    resolve: ({ oldPathIds }) => oldPathIds?.slice(0, -1),
  }),
  path: t.string({
    nullable: true,
    description:
      'The path of the folder immediately after the change. For a deletion or a purge, the path before the deletion. A path of more than 4,096 characters is cut at its start. Null in entries of older server versions, and if the path is unknown.',
    resolve: chargeText(({ path }) => path),
  }),
  formerPath: t.string({
    nullable: true,
    description:
      'For a move or a new name: the path of the folder before the change. For a duplicate: the path of the original.',
    resolve: chargeText(({ formerPath }) => formerPath),
  }),
}));

builder.objectFields(JournalEntry, (t) => ({
  userId: t.exposeID('userId', {
    nullable: true,
    description: 'The id of the user that the change concerns.',
  }),
  user: t.field({
    type: User,
    nullable: true,
    description: 'The user that the change concerns. Also null if the user no longer exists.',
    resolve: ({ userId, userOf }) => userOf(userId),
  }),
  groupId: t.exposeID('groupId', {
    nullable: true,
    description: 'The id of the group that the change concerns.',
  }),
  group: t.field({
    type: Group,
    nullable: true,
    description: 'The group that the change concerns. Also null if the group no longer exists.',
    resolve: ({ groupId, groupOf }) => groupOf(groupId),
  }),
  sessionId: t.exposeID('sessionId', {
    nullable: true,
    description: 'The id of the session that ended. Null if the change ended several sessions.',
  }),
  before: t.field({
    type: 'JSON',
    nullable: true,
    description: 'The values before the change. Long texts are shortened.',
    resolve: chargeText(({ before }) => before),
  }),
  after: t.field({
    type: 'JSON',
    nullable: true,
    description: 'The values after the change. Long texts are shortened.',
    resolve: chargeText(({ after }) => after),
  }),
}));

const JournalEntryConnection = defineConnection(JournalEntry, 'journal entries');

const JournalFilter = builder.inputType('JournalFilter', {
  description: 'Conditions that an entry must meet, all at the same time.',
  fields: (t) => ({
    byId: t.id({ description: 'Changes by this user.' }),
    userId: t.id({ description: 'Changes that concern this user.' }),
    groupId: t.id({ description: 'Changes that concern this group.' }),
    folderId: t.id({ description: 'Changes of this folder itself, not of the folders inside it.' }),
    kinds: t.field({ type: [JournalKind], description: 'Changes of one of these kinds.' }),
    from: t.field({ type: 'DateTime', description: 'Changes at this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Changes before this time.' }),
  }),
});

builder.queryField('journal', (t) =>
  t.field({
    type: JournalEntryConnection,
    description: 'All changes of the server, newest first. Only for administrators.',
    args: {
      filter: t.arg({ type: JournalFilter, description: 'Return only the entries that match this filter.' }),
      ...pageArguments(t.arg),
    },
    resolve: (_, { filter, ...page }, { access, view }) => {
      requireAdministrator(access);
      return new KeysetConnection(journalList(view, toFilter(filter)), page);
    },
  }),
);

builder.subscriptionField('journal', (t) =>
  t.field({
    type: JournalEntry,
    description:
      'Receive all changes of the server, as they happen. Only for administrators: the subscription ends with FORBIDDEN when you lose this right. After a reconnect, pass the cursor of your last entry: you then miss nothing, or receive NOT_FOUND. In this case, read the query `journal` again.',
    args: {
      filter: t.arg({ type: JournalFilter, description: 'Send only the entries that match this filter.' }),
      after: t.arg.string({
        extensions: startArgument,
        description:
          'Start with the entries after this cursor, from the field `cursor` of an entry, a query or a mutation. By default, sends only new entries.',
      }),
    },
    subscribe: async (_, { filter, after }, context) => {
      const { access, position: head, reader, feed, limits } = context;
      requireAdministrator(access);
      const from = typeof after === 'string' ? fromJournalCursor(after, 'after') : head;
      const { maxBacklog } = limits;
      await requireEntriesAvailable(reader, from, { head, maxBacklog });
      return new JournalSubscription(feed, {
        after: from,
        filter: toFilter(filter),
        maxBacklog,
        isStillAllowed: createAdministratorCheck(context),
      });
    },
    resolve: ({ entry }, _, { access, view }) => {
      requireAdministrator(access);
      return toEntryNodes(view, [entry])[0]!;
    },
  }),
);

function toFilter(filter: (typeof JournalFilter)['$inferInput'] | null | undefined): Filter {
  const { byId, userId, groupId, folderId, kinds, from, until } = filter ?? {};
  return {
    byUserId: toRowId(byId),
    userId: toRowId(userId),
    groupId: toRowId(groupId),
    folderId: toRowId(folderId),
    kinds: kinds ?? undefined,
    from: from ?? undefined,
    until: until ?? undefined,
  };
}

/** A text that cannot be an id becomes the id of no row. */
function toRowId(id: string | null | undefined): string | undefined {
  if (typeof id !== 'string') return undefined;
  return isRowId(id) ? id : firstId;
}

function journalList(view: TreeView, filter: Filter): KeysetList<EntryNode> {
  return {
    name: `journal ${JSON.stringify(filter)}`,
    keyOf: ({ number }) => String(number),
    read: ({ after, limit }) => {
      const before = after === undefined ? undefined : toKeyNumber(after);
      return whenDone(listJournal(view.reader, filter, { before, limit }), (entries) =>
        toEntryNodes(view, entries),
      );
    },
    count: () => countJournal(view.reader, filter),
  };
}

function toEntryNodes(view: TreeView, entries: readonly Entry[]): readonly EntryNode[] {
  const folderOf = readTogether(
    entries.map(({ folderId }) => folderId),
    (ids) => readFolderNodes(view, ids),
  );
  const userOf = readTogether(
    entries.flatMap(({ byUserId, userId }) => [byUserId, userId]),
    (ids) => readUserNodes(view.reader, ids),
  );
  const groupOf = readTogether(
    entries.map(({ groupId }) => groupId),
    (ids) => readGroups(view.reader, ids),
  );
  const apiKeyOf = readTogether(
    entries.map(({ byApiKeyId }) => byApiKeyId),
    (ids) => readApiKeyNodes(view, ids),
  );
  return entries.map((entry) => ({ ...entry, folderOf, userOf, groupOf, apiKeyOf }));
}

/** Called for every entry. Reads the viewer's rights again only after a change of access. */
function createAdministratorCheck({
  accessCache,
  feed,
  access,
  position,
}: GraphContext): () => Promise<boolean> {
  let rights: AccessSnapshot = { access, position };
  return async () => {
    try {
      if (feed.lastAccessChange > rights.position.number) rights = await accessCache.accessOf(access);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return false;
      throw error;
    }
    requireAdministrator(rights.access);
    return true;
  };
}
