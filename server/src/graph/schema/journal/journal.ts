/** The type JournalEntry, and the query and subscription `journal`, for administrators. */

import type { AccessSnapshot } from '../../../access/access-cache.ts';
import { requireAdministrator } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { isRowId, firstId } from '../../../database/statement.ts';
import type { TreeView } from '../../../folders/folders.ts';
import {
  fromJournalCursor,
  journalKinds,
  toJournalCursor,
  type JournalEntry as Entry,
  type JournalKind as Kind,
} from '../../../journal/journal-entry.ts';
import { countJournal, listJournal, type JournalFilter as Filter } from '../../../journal/journal-list.ts';
import { JournalSubscription, requireKept } from '../../../journal/journal-subscription.ts';
import { Refusal } from '../../../refusal.ts';
import { startArgument } from '../../document-fields.ts';
import type { Builder, GraphContext, ObjectRefOf } from '../builder.ts';
import {
  defineKeysetConnection,
  KeysetConnection,
  pageArguments,
  toKeyNumber,
  type KeysetList,
  type PageInfoRef,
} from '../connections/keyset-connection.ts';
import type { FolderTypes } from '../folders/folder.ts';
import type { PeopleTypes } from '../people/people.ts';
import { References } from './references.ts';

export type JournalTypes = ReturnType<typeof defineJournal>;

interface EntryNode {
  readonly entry: Entry;
  readonly references: References;
}

export function defineJournal(
  builder: Builder,
  { Folder }: Pick<FolderTypes, 'Folder'>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
  { PageInfo }: { readonly PageInfo: PageInfoRef },
) {
  const JournalKind = defineJournalKind(builder);
  const JournalEntry = builder.objectRef<EntryNode>('JournalEntry').implement({
    description:
      'Something that was done. Its numbers have no gap, and are in the order in which it was done.',
    fields: (t) => ({
      number: t.float({
        description: 'A whole number, which may be larger than an Int.',
        resolve: ({ entry }) => entry.number,
      }),
      cursor: t.string({
        description:
          'For `after` of `changes`, `folderChanges` and the subscription `journal`; the query `journal` has its own in its edges.',
        resolve: ({ entry }) => toJournalCursor(entry),
      }),
      at: t.field({ type: 'DateTime', resolve: ({ entry }) => entry.at }),
      kind: t.field({ type: JournalKind, resolve: ({ entry }) => entry.kind }),
      byId: t.id({
        nullable: true,
        description: 'Of who did it; null for the server itself.',
        resolve: ({ entry }) => entry.byUserId,
      }),
      by: t.field({
        type: User,
        nullable: true,
        description: 'Who did it; null also if the user has been deleted since.',
        resolve: ({ entry, references }) => references.userOf(entry.byUserId),
      }),
    }),
  });
  defineFolderFields(builder, JournalEntry, { Folder });
  defineSubjectFields(builder, JournalEntry, { User, Group });
  const Connection = defineKeysetConnection(builder, {
    PageInfo,
    Node: JournalEntry,
    plural: 'journal entries',
  });
  const JournalFilter = defineJournalFilter(builder, JournalKind);
  builder.queryField('journal', (t) =>
    t.field({
      type: Connection,
      description: 'Everything that was done, the latest first. For administrators.',
      args: {
        filter: t.arg({ type: JournalFilter }),
        ...pageArguments(t.arg),
      },
      resolve: (_, { filter, ...page }, { access, view }) => {
        requireAdministrator(access);
        return new KeysetConnection(journalList(view, toFilter(filter)), page);
      },
    }),
  );

  return { JournalEntry, JournalFilter };
}

function defineJournalKind(builder: Builder) {
  return builder.enumType('JournalKind', {
    description:
      'What was done, by the name of the mutation that does it. A password that was reset is a CHANGE_PASSWORD by somebody else. END_SESSION is the end of one session or of several, PURGE_FOLDER that of a deleted folder. ROTATE_KEY and RETIRE_KEY are about signing keys.',
    values: journalKinds,
  });
}

function defineJournalFilter(builder: Builder, JournalKind: ReturnType<typeof defineJournalKind>) {
  return builder.inputType('JournalFilter', {
    description: 'All of what is given must fit.',
    fields: (t) => ({
      byId: t.id({ description: 'Who did it.' }),
      userId: t.id({ description: 'Whom it concerns.' }),
      groupId: t.id(),
      folderId: t.id({ description: 'The folder itself; not what is inside.' }),
      kinds: t.field({ type: [JournalKind], description: 'One of these.' }),
      from: t.field({ type: 'DateTime', description: 'At this time or later.' }),
      until: t.field({ type: 'DateTime', description: 'Before this time.' }),
    }),
  });
}

function defineFolderFields(
  builder: Builder,
  JournalEntry: ObjectRefOf<EntryNode>,
  { Folder }: Pick<FolderTypes, 'Folder'>,
): void {
  builder.objectFields(JournalEntry, (t) => ({
    folderId: t.id({
      nullable: true,
      description: 'Which folder; of an import, where to.',
      resolve: ({ entry }) => entry.folderId,
    }),
    folder: t.field({
      type: Folder,
      nullable: true,
      description: 'As it is now; null if it is not on the tree any more.',
      resolve: ({ entry, references }) => references.folderOf(entry.folderId),
    }),
    ancestorIds: t.idList({
      nullable: true,
      description:
        'Above the folder when it was done, the root first; for a move, after it. Null where it does not matter: for grants.',
      resolve: ({ entry }) => entry.pathIds?.slice(0, -1),
    }),
    formerAncestorIds: t.idList({
      nullable: true,
      description: 'Above a folder before it was moved.',
      resolve: ({ entry }) => entry.oldPathIds?.slice(0, -1),
    }),
  }));
}

/** The user, group and session that an entry concerns, and what has changed. */
function defineSubjectFields(
  builder: Builder,
  JournalEntry: ObjectRefOf<EntryNode>,
  { User, Group }: Pick<PeopleTypes, 'User' | 'Group'>,
): void {
  builder.objectFields(JournalEntry, (t) => ({
    userId: t.id({
      nullable: true,
      description: 'Whom it concerns.',
      resolve: ({ entry }) => entry.userId,
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'Whom it concerns; null also if the user has been deleted since.',
      resolve: ({ entry, references }) => references.userOf(entry.userId),
    }),
    groupId: t.id({
      nullable: true,
      description: 'Which group.',
      resolve: ({ entry }) => entry.groupId,
    }),
    group: t.field({
      type: Group,
      nullable: true,
      description: 'Which group; null also if it has been deleted since.',
      resolve: ({ entry, references }) => references.groupOf(entry.groupId),
    }),
    sessionId: t.id({
      nullable: true,
      description: 'Which session was ended, if it was one.',
      resolve: ({ entry }) => entry.sessionId,
    }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What it was, of what is small: long texts are cut.',
      resolve: ({ entry }, _, { budget }, info) => budget.spendText(entry.before, info),
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What it became.',
      resolve: ({ entry }, _, { budget }, info) => budget.spendText(entry.after, info),
    }),
  }));
}

type Argument<T> = T | null | undefined;

function toFilter(
  filter: Argument<{
    readonly byId?: Argument<string>;
    readonly userId?: Argument<string>;
    readonly groupId?: Argument<string>;
    readonly folderId?: Argument<string>;
    readonly kinds?: Argument<readonly Kind[]>;
    readonly from?: Argument<number>;
    readonly until?: Argument<number>;
  }>,
): Filter {
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
    keyOf: ({ entry }) => String(entry.number),
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
  const references = new References(view, {
    folders: entries.map(({ folderId }) => folderId),
    users: entries.flatMap(({ byUserId, userId }) => [byUserId, userId]),
    groups: entries.map(({ groupId }) => groupId),
  });
  return entries.map((entry) => ({ entry, references }));
}

export function defineJournalSubscription(
  builder: Builder,
  { JournalEntry, JournalFilter }: JournalTypes,
): void {
  builder.subscriptionField('journal', (t) =>
    t.field({
      type: JournalEntry,
      description:
        'Everything that is done, as it is done. For administrators: whoever is none any more has it end with FORBIDDEN. Whoever comes back with the cursor of the last entry they know misses nothing, or is refused with NOT_FOUND: then read `journal` anew.',
      args: {
        filter: t.arg({ type: JournalFilter }),
        after: t.arg.string({
          extensions: startArgument,
          description:
            'What followed this `cursor` of an entry, a query or a mutation comes first; without it, from now on.',
        }),
      },
      subscribe: async (_, { filter, after }, context) => {
        const { access, position: head, reader, feed, limits } = context;
        requireAdministrator(access);
        const from = typeof after === 'string' ? fromJournalCursor(after, 'after') : head;
        const { maxBacklog } = limits;
        await requireKept(reader, from, { head, maxBacklog });
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
      if (feed.accessChangedAt > rights.position.number) rights = await accessCache.accessOf(access.userId);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return false;
      throw error;
    }
    requireAdministrator(rights.access);
    return true;
  };
}
