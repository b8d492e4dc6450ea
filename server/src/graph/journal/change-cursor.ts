/** The field `cursor` of what a mutation answers. */

import { toJournalCursor } from '../../journal/journal-cursor.ts';
import type { GraphContext } from '../builder.ts';

/** Mutations run one after the other: the place is that of the one that is answered. */
export const changeCursor = {
  description:
    'The place of this change in the journal, for `after` of `changes` and `folderChanges`: from here on is what others do.',
  resolve: (_: unknown, __: object, { place }: GraphContext) => toJournalCursor(place),
};
