/** Following the journal, for administrators: everything that is done, as it is done. */

import type { Standing } from '../../access/access-book.ts';
import { fromJournalCursor } from '../../journal/journal-cursor.ts';
import { requireKept, watchJournal } from '../../journal/watch-journal.ts';
import { Refusal } from '../../refusal.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { requireAdministrator } from '../../accounts/administrator.ts';
import { startArgument } from '../shared-answers.ts';
import { toEntryNodes, toFilter, type JournalTypes } from './journal-query.ts';

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
        const { access, place: head, reader, feed, limits } = context;
        requireAdministrator(access);
        const from = typeof after === 'string' ? fromJournalCursor(after, 'after') : head;
        const { maxBacklog } = limits;
        await requireKept(reader, from, { head, maxBacklog });
        return watchJournal(feed, {
          after: from,
          filter: toFilter(filter),
          maxBacklog,
          mayBeTold: stillAdministrator(context),
        });
      },
      resolve: ({ entry }, _, { access, view }) => {
        requireAdministrator(access);
        return toEntryNodes(view, [entry])[0]!;
      },
    }),
  );
}

/** Asked for every entry: read anew only when somebody's access has changed. */
function stillAdministrator({ accessBook, feed, access, place }: GraphContext): () => Promise<boolean> {
  let standing: Standing = { access, place };
  return async () => {
    try {
      if (feed.accessChangedAt > standing.place.number) standing = await accessBook.accessOf(access.userId);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN') return false;
      throw error;
    }
    requireAdministrator(standing.access);
    return true;
  };
}
