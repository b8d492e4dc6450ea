/** The table of entries. It is virtualized: only rows near the viewport are rendered. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { JournalEntry } from '../../ui/journal-sentence.ts';
import { EntryDetails, EntryRow } from './journal-entry.tsx';
import { useIsNarrow } from '../narrow.ts';

interface Props {
  readonly entries: readonly JournalEntry[];
  readonly totalCount: number;
  /** Entries with higher numbers have just arrived and are highlighted. */
  readonly lastSeenNumber: number;
}

const rowHeight = 39;

/** The screen scrolls, not the table. */
function findScroller(): HTMLElement | null {
  return document.getElementById('screen');
}

export function JournalTable({ entries, totalCount, lastSeenNumber }: Props) {
  const [openNumbers, setOpenNumbers] = useState<ReadonlySet<number>>(new Set());
  const isNarrow = useIsNarrow();
  const columns = isNarrow ? 3 : 5;
  const table = useRef<HTMLTableElement>(null);
  const { visibleRows, above, below, measureRow } = useVisibleRows(entries, table);

  const toggle = (number: number) => {
    const next = new Set(openNumbers);
    if (!next.delete(number)) next.add(number);
    setOpenNumbers(next);
  };
  return (
    <div className="table-frame">
      <table className="table journal-table" ref={table} aria-rowcount={totalCount + 1}>
        <caption className="visually-hidden">Entries of the journal, the latest first</caption>
        <TableHead isNarrow={isNarrow} />
        <Spacer height={above} columns={columns} />
        {visibleRows.map(({ index }) => {
          const entry = entries[index]!;
          const isOpen = openNumbers.has(entry.number);
          return (
            <tbody key={entry.number} ref={measureRow} data-index={index} className="journal-entry">
              <EntryRow
                entry={entry}
                isOpen={isOpen}
                isNarrow={isNarrow}
                isFresh={entry.number > lastSeenNumber}
                rowIndex={index + 2}
                onToggle={() => toggle(entry.number)}
              />
              {isOpen && (
                <tr className="journal-details-row">
                  <td colSpan={columns}>
                    <EntryDetails entry={entry} />
                  </td>
                </tr>
              )}
            </tbody>
          );
        })}
        <Spacer height={below} columns={columns} />
      </table>
    </div>
  );
}

/** Returns the rows near the viewport, and the heights of the rows above and below them. */
function useVisibleRows(entries: readonly JournalEntry[], table: RefObject<HTMLTableElement | null>) {
  const offset = useOffset(table);
  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: findScroller,
    estimateSize: () => rowHeight,
    getItemKey: (index) => entries[index]!.number,
    scrollMargin: offset,
    overscan: 15,
  });
  const visibleRows = virtualizer.getVirtualItems();
  return {
    visibleRows,
    above: (visibleRows[0]?.start ?? offset) - offset,
    below: virtualizer.getTotalSize() - ((visibleRows.at(-1)?.end ?? offset) - offset),
    measureRow: virtualizer.measureElement,
  };
}

function TableHead({ isNarrow }: { isNarrow: boolean }) {
  return (
    <thead>
      <tr>
        {!isNarrow && (
          <th scope="col" className="journal-number">
            No.
          </th>
        )}
        <th scope="col" className="journal-when">
          When
        </th>
        {!isNarrow && (
          <th scope="col" className="journal-who">
            Who
          </th>
        )}
        <th scope="col" className="journal-what">
          What
        </th>
        <th scope="col" className="journal-more">
          <span className="visually-hidden">Details</span>
        </th>
      </tr>
    </thead>
  );
}

/** Returns the position of the first row in the scrolled content. It changes when content above the table changes its height. */
function useOffset(table: RefObject<HTMLTableElement | null>): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const screen = findScroller();
    const page = table.current?.closest('main');
    if (!screen || !page) return;
    const measure = () => {
      const firstBody = table.current?.tBodies[0];
      if (!firstBody) return;
      const top = firstBody.getBoundingClientRect().top - screen.getBoundingClientRect().top;
      setOffset(Math.round(top + screen.scrollTop));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(page);
    return () => observer.disconnect();
  }, [table]);
  return offset;
}

/** Fills the height of the rows that are not rendered. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tbody aria-hidden="true">
      <tr className="journal-space" style={{ height: Math.max(height, 0) }}>
        {height > 0 && <td colSpan={columns} />}
      </tr>
    </tbody>
  );
}
