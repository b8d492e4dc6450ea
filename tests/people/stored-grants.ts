/** Writes and counts rows of grants. Tests check that these rows are deleted with users and groups. */

import { accessLevels } from '../../server/src/access/access.ts';
import { sql } from '../../server/src/database/statement.ts';
import { record, lockForChange } from '../../server/src/journal/journal.ts';
import { withDatabase } from '../support/stored-rows.ts';

type SubjectKind = 'user' | 'group';

const grantRoot = sql<{ subjectId: string; kind: SubjectKind; level: number }>`
  insert into grants (folder_id, subject_id, subject_kind, level, granted_at)
  select id, ${'subjectId'}, ${'kind'}, ${'level'}, 0 from folders
  where parent_id is null and detached_at is null`;

const countOf = sql<{ subjectId: string }, { count: number }>`
  select count(*) as count from grants where subject_id = ${'subjectId'}`;

/** Grants a user or a group MANAGE on the whole tree. */
export async function grantManage(url: string, subjectId: string, kind: SubjectKind): Promise<void> {
  await withDatabase(url, (database) =>
    database.transaction(async (transaction) => {
      await lockForChange(transaction);
      await transaction.run(grantRoot, { subjectId, kind, level: accessLevels.MANAGE });
      record(transaction, {
        kind: 'GRANT_ACCESS',
        now: 0,
        byUserId: null,
        ...(kind === 'user' ? { userId: subjectId } : { groupId: subjectId }),
        changesAccess: true,
      });
    }),
  );
}

export async function countGrants(url: string, subjectId: string): Promise<number> {
  return withDatabase(url, async (database) => (await database.get(countOf, { subjectId }))!.count);
}
