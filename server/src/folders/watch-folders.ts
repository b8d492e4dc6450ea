/** Reads the changes of the folders that a viewer sees from an entry of the journal on, or follows them from there. */

import { hasAccessChanged } from '../access/access-history.ts';
import type { Access } from '../access/access.ts';
import type { ConsistentReader } from '../database/database.ts';
import type { ChangeStream } from '../journal/change-stream.ts';
import { isKept, readEntries, readOldest, type JournalPlace } from '../journal/journal-entry.ts';
import { effectOf, withPositions, resyncAt, type FolderChange } from './folder-changes.ts';
import {
  FolderSubscription,
  trackFolder,
  type SubscriptionRange,
  type SubscriptionOptions,
  type SubscriptionServices,
} from './folder-subscription.ts';
import type { TreeView } from './folders.ts';

export interface ChangePage {
  readonly under: string | undefined;
  readonly changes: readonly FolderChange[];
  /** Where the next page begins. */
  readonly position: JournalPlace;
  readonly hasMore: boolean;
}

const batch = 200;
const mostScannedPerPage = 10_000;

/**
 * The changes after a place, or all that are kept, as far as there are. What is looked through and not seen counts
 * towards the page, too.
 */
export async function readChanges(
  { reader, access }: TreeView,
  head: JournalPlace,
  { after, under }: Partial<SubscriptionRange>,
  first: number,
): Promise<ChangePage> {
  const resync = { under, changes: [resyncAt(head)], position: head, hasMore: false };
  const start = after ?? (await beforeOldest(reader, head));
  const isKnown = after
    ? await isStillKnown(reader, access, after, head)
    : !(await hasAccessChanged(reader, access, { after: start.number, upTo: head.number }));
  if (!isKnown) return resync;
  const changes: FolderChange[] = [];
  const tracked = await trackFolder(reader, access, start.number, under);
  let position = start;
  for (let scanned = 0; scanned < mostScannedPerPage; scanned += batch) {
    const entries = await readEntries(reader, position.number, batch);
    // Some may have been forgotten just now.
    const isGone = position.number < head.number && entries[0]?.number !== position.number + 1;
    if (isGone) return resync;
    for (const entry of entries) {
      // What came after the access was read is judged by an access read after it.
      if (entry.number > head.number) return { under, changes, position, hasMore: true };
      const effectOnWatched = tracked?.follow(entry, access);
      const effect = effectOf(entry, access, under) ?? effectOnWatched;
      if (effect && changes.length === first) return { under, changes, position, hasMore: true };
      if (effect) changes.push(...withPositions(entry, position, [effect]));
      position = entry;
    }
    if (entries.length < batch) return { under, changes, position, hasMore: false };
  }
  return { under, changes, position, hasMore: true };
}

/** Where whoever has no cursor begins. */
async function beforeOldest(reader: ConsistentReader, head: JournalPlace): Promise<JournalPlace> {
  const oldest = await readOldest(reader);
  return oldest === undefined ? head : { number: oldest - 1, nonce: 0 };
}

/** Streams the changes after a journal entry, until it is told to return. It starts from the snapshot of `view`. */
export async function followFolders(
  services: SubscriptionServices,
  { reader, access }: TreeView,
  options: SubscriptionOptions,
): Promise<ChangeStream<FolderChange>> {
  const { after, head, under } = options;
  const isKnown = await isStillKnown(reader, access, after, head);
  const position = isKnown ? after : head;
  const tracked = await trackFolder(reader, access, position.number, under);
  const start = { place: position, watched: tracked, isKnown, standing: { access, position: head } };
  return new FolderSubscription(services, options, start);
}

/** Whether all that happened to the viewer's folders after an entry can still be told. */
async function isStillKnown(
  reader: ConsistentReader,
  access: Access,
  after: JournalPlace,
  head: JournalPlace,
): Promise<boolean> {
  if (after.number > head.number) return false;
  const isEntry = after.number === head.number ? after.nonce === head.nonce : await isKept(reader, after);
  const stretch = { after: after.number, upTo: head.number };
  return isEntry && !(await hasAccessChanged(reader, access, stretch));
}
