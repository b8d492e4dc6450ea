/** Grants under a heading: how many they are, the first of them, and a field that finds one if they are many. */

import { useState, type ReactNode } from 'react';
import { SearchField } from '../ui/search-field.tsx';
import { ShownPart } from '../ui/shown-part.tsx';
import { namedLike } from './grant-order.ts';
import { GrantTable } from './grant-table.tsx';
import type { Grant } from './grants.ts';

/** From so many on, they are searched rather than looked through. */
export const many = 20;
const shownFirst = 50;

interface GrantSectionProps {
  readonly id: string;
  readonly title: string;
  readonly grants: readonly Grant[];
  readonly mayChange: boolean;
  readonly folderId: string;
  /** What is said if there are none. */
  readonly none: string;
  /** What is said below them. */
  readonly note?: string;
  readonly action?: ReactNode;
}

export function GrantSection(props: GrantSectionProps) {
  const { id, title, grants, mayChange, folderId, none, note, action } = props;
  const [text, setText] = useState('');
  const isLong = grants.length > many;
  const found = isLong ? namedLike(grants, text) : grants;
  return (
    <section className="access-part" aria-labelledby={id}>
      <div className="card-header">
        <h2 id={id}>{title}</h2>
        {grants.length > 0 && <span className="soft number">{countText(found.length, grants.length)}</span>}
        <span className="grow" />
        {action}
      </div>
      {isLong && (
        <div className="toolbar">
          <SearchField label={`Search: ${title.toLowerCase()}`} value={text} onChange={setText} />
        </div>
      )}
      {grants.length === 0 ? (
        <p className="hint">{none}</p>
      ) : found.length === 0 ? (
        <p className="hint">Nobody’s name here holds “{text}”.</p>
      ) : (
        <>
          <ShownPart of={found} things="grants" size={shownFirst}>
            {(shown) => <GrantTable label={title} grants={shown} mayChange={mayChange} folderId={folderId} />}
          </ShownPart>
          {note && <p className="hint">{note}</p>}
        </>
      )}
    </section>
  );
}

function countText(found: number, all: number): string {
  const count = all.toLocaleString('en');
  return found === all ? count : `${found.toLocaleString('en')} of ${count}`;
}
