/** A table of the fields that a journal entry changed, with their old and new values. */

import { diffJournalEntry } from '../../ui/journal-diff.ts';
import type { JournalEntry } from '../../ui/journal-sentence.ts';
import { useFolderPath } from './folder-path.ts';

const names: Readonly<Record<string, string>> = { parentId: 'inside' };

export function Differences({ entry }: { entry: JournalEntry }) {
  const differences = diffJournalEntry(entry);
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
            <th scope="row">{names[name] ?? name}</th>
            <td className={before === null ? 'none' : 'before'}>
              <Value name={name} text={before} />
            </td>
            <td className={after === null ? 'none' : 'after'}>
              <Value name={name} text={after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ name, text }: { name: string; text: string | null }) {
  if (text === null) return 'nothing';
  return name === 'parentId' ? <FolderPath id={text} /> : text;
}

function FolderPath({ id }: { id: string }) {
  return useFolderPath(id) ?? id;
}
