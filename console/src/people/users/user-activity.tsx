/** The latest journal entries of a user. */

import { usePages, type Page } from '../../graph/use-pages.ts';
import { journalFields, formatJournalEntry, type JournalEntry } from '../../ui/journal-sentence.ts';
import { EntryPath, Sentence } from '../../ui/sentence.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { QueryResult, Loading } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserSummary } from '../people-data.ts';

const pageSize = 10;

const activityDocument =
  /* GraphQL */ `
    query DoneBy($id: ID!, $first: Int, $after: String) {
      journal(filter: { byId: $id }, first: $first, after: $after) {
        items {
          ...JournalFields
        }
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  ` + journalFields;

export function UserActivity({ user: { id, username } }: { user: UserSummary }) {
  const list = usePages<{ journal: Page<JournalEntry> }, JournalEntry>(
    ['people', 'activity', id],
    activityDocument,
    { id, first: pageSize },
    ({ journal }) => journal,
  );
  return (
    <section className="card" aria-labelledby="user-activity">
      <h2 id="user-activity">Recent activity</h2>
      <QueryResult query={list} loading={<Loading lines={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">{username} has changed nothing that the journal still knows.</p>
          ) : (
            <ol className="people-activity">
              {items.map((entry) => (
                <li key={entry.number}>
                  <span className="people-when">
                    <Time at={entry.at} />
                  </span>
                  <span>
                    <Sentence parts={formatJournalEntry(entry)} />
                    <EntryPath entry={entry} />
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </QueryResult>
      <ShowMore pages={list} noun="entries" />
    </section>
  );
}
