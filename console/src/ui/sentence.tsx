/** Renders a sentence of the journal, with links to the pages of its names. */

import { Link } from '../router.tsx';
import type { SentencePart } from './journal-sentence.ts';
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
