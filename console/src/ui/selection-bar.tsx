/** The bar below the tree or a table that shows the number of selected items and their actions. */

import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';

interface SelectionBarProps {
  /** The accessible name. */
  readonly label: string;
  readonly count: number;
  /** The selection has reached its maximum. */
  readonly isFull?: boolean;
  /** The bar fills the bottom of its pane. Otherwise it floats over the rows. */
  readonly isDocked?: boolean;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

export function SelectionBar({ label, count, isFull, isDocked, onClear, children }: SelectionBarProps) {
  return (
    <div className={isDocked ? 'selection-bar docked' : 'selection-bar'} role="toolbar" aria-label={label}>
      <IconButton label="Clear selection" icon="close" onPress={onClear} />
      <span className="selection-count number" role="status">
        {count.toLocaleString('en')} selected{isFull && ', the maximum'}
      </span>
      {children}
    </div>
  );
}
