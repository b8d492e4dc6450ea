/** A table of the fields that a journal entry changed, with their old and new values. */

import { diffJournalEntry } from '../../ui/journal-diff.ts';
import type { JournalEntry } from '../../ui/journal-sentence.ts';

export function Differences({ entry }: { entry: JournalEntry }) {
  const differences = listDifferences(entry);
  if (differences.length === 0) return null;
  return (
    <table className="journal-diff">
      <caption className="visually-hidden">Changed fields</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className={before === null ? 'none' : 'before'}>{before ?? 'nothing'}</td>
            <td className={after === null ? 'none' : 'after'}>{after ?? 'nothing'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A move has the paths of that time instead of the ids of the parents. */
function listDifferences(entry: JournalEntry) {
  const { kind, path, formerPath } = entry;
  const differences = diffJournalEntry(entry);
  if (kind !== 'MOVE_FOLDER' || path === null || formerPath === null) return differences;
  const others = differences.filter(({ name }) => name !== 'parentId');
  return [{ name: 'path', before: formerPath, after: path }, ...others];
}
