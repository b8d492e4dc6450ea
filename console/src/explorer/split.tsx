/** Two panes with a movable separator. */

import { Children, type ReactNode } from 'react';
import { Divider, useDividerPosition } from '../ui/divider.tsx';

interface SplitProps {
  /** The name under which the separator's position is stored. */
  readonly name: string;
  readonly label: string;
  /** The panes are stacked. */
  readonly isVertical?: boolean;
  /** Share of the first pane, in percent. */
  readonly initial?: number;
  readonly children: readonly [ReactNode, ReactNode];
}

export function Split({ name, label, isVertical = false, initial = 50, children }: SplitProps) {
  const share = useDividerPosition(name, { min: 15, max: 85, initial });
  const [first, second] = Children.toArray(children);
  return (
    <div className={`split ${isVertical ? 'vertical' : 'horizontal'}`}>
      <div className="split-first" style={{ flexGrow: share.value }}>
        {first}
      </div>
      <Divider
        className="split-bar"
        position={share}
        unit="%"
        step={5}
        label={label}
        isHorizontal={isVertical}
      />
      <div className="split-second" style={{ flexGrow: 100 - share.value }}>
        {second}
      </div>
    </div>
  );
}
