/** Renders an entry of the journal: a sentence with links, and the path of its folder at the time of the change. */

import { Link } from '../router.tsx';
import type { JournalEntry, SentencePart } from './journal-sentence.ts';
import { Name } from './text.tsx';

export function Sentence({ parts }: { parts: readonly SentencePart[] }) {
  return parts.map(({ text, to }, index) =>
    to === undefined ? (
      <Name key={index}>{text}</Name>
    ) : (
      <Link key={index} to={to}>
        <Name>{text}</Name>
      </Link>
    ),
  );
}

/** The sentence of a move already contains its paths. */
export function EntryPath({ entry: { kind, path } }: { entry: JournalEntry }) {
  if (path === null || kind === 'MOVE_FOLDER') return null;
  return (
    <span className="soft">
      {' '}
      <Name>{path}</Name>
    </span>
  );
}
