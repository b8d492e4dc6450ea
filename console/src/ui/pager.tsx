/** The range of rows of a table page, with buttons for the other pages. */

import { formatRange, rowsPerPage } from '../graph/pages.ts';
import { Button } from './button.tsx';

/** A page of a list, by its number, starting at 0. */
export interface PageControl {
  readonly page: number;
  readonly totalCount: number;
  readonly turnTo: (page: number) => void;
}

interface PagerProps {
  readonly page: number;
  readonly count: number;
  readonly totalCount: number | undefined;
  readonly isReading: boolean;
  readonly next: (() => void) | undefined;
  readonly turnTo: (page: number) => void;
  readonly hasLast: boolean;
}

export function Pager({ page, count, totalCount, isReading, next, turnTo, hasLast }: PagerProps) {
  const last = Math.max(0, Math.ceil((totalCount ?? 0) / rowsPerPage) - 1);
  return (
    <nav className="pager" aria-label="Pages">
      <span className="soft number" role="status">
        {formatRange(page, count, totalCount)}
      </span>
      <span className="pager-buttons">
        <Button size="small" isDisabled={page === 0} onPress={() => turnTo(0)}>
          First
        </Button>
        <Button
          size="small"
          icon="back"
          isDisabled={page === 0}
          onPress={() => turnTo(Math.min(page - 1, last))}
        >
          Previous
        </Button>
        <Button size="small" isDisabled={!next} isPending={isReading} {...(next && { onPress: next })}>
          Next
        </Button>
        {hasLast && (
          <Button size="small" isDisabled={page >= last} onPress={() => turnTo(last)}>
            Last
          </Button>
        )}
      </span>
    </nav>
  );
}
