/** A movable divider between two parts of a page. Its position is stored in the browser. */

import { useState, type KeyboardEvent, type PointerEvent } from 'react';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly initial: number;
}

interface DividerPosition extends Bounds {
  readonly value: number;
  readonly set: (value: number) => void;
}

/** The position of a divider, stored under a name. */
export function useDividerPosition(name: string, { min, max, initial }: Bounds): DividerPosition {
  const key = `espalier:divider:${name}`;
  const [value, setValue] = useState(() => {
    const stored = readNumber(key);
    return stored >= min && stored <= max ? stored : initial;
  });
  const set = (next: number) => {
    const bounded = Math.round(Math.min(max, Math.max(min, next)));
    setValue(bounded);
    try {
      localStorage.setItem(key, `${bounded}`);
    } catch {
      // Without storage, the position lasts until the page is reloaded.
    }
  };
  return { min, max, initial, value, set };
}

function readNumber(key: string): number {
  try {
    return Number(localStorage.getItem(key) ?? NaN);
  } catch {
    return NaN;
  }
}

interface DividerProps {
  readonly position: DividerPosition;
  readonly unit: 'px' | '%';
  readonly label: string;
  readonly className: string;
  /** The distance that an arrow key moves the divider. */
  readonly step: number;
  /** Whether the divider is horizontal, with one part above the other. */
  readonly isHorizontal?: boolean;
  /** The id of the part before the divider, for `aria-controls`. */
  readonly controls?: string;
}

/** `position.value` is the distance in `unit` from the left or top edge of the parent. */
export function Divider(props: DividerProps) {
  const { position, unit, label, className, step, isHorizontal = false, controls } = props;
  const { value, set, min, max, initial } = position;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = {
      [isHorizontal ? 'ArrowUp' : 'ArrowLeft']: value - step,
      [isHorizontal ? 'ArrowDown' : 'ArrowRight']: value + step,
      Home: min,
      End: max,
      Enter: initial,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    set(next);
  };
  const drag = ({ currentTarget: divider, pointerId, clientX, clientY }: PointerEvent<HTMLElement>) => {
    if (!divider.hasPointerCapture(pointerId)) return;
    const { left, top, width, height } = divider.parentElement!.getBoundingClientRect();
    const [offset, size] = isHorizontal ? [clientY - top, height] : [clientX - left, width];
    set(unit === 'px' ? offset : (offset / size) * 100);
  };
  return (
    <div
      className={className}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isHorizontal ? 'horizontal' : 'vertical'}
      aria-controls={controls}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuetext={unit === 'px' ? `${value} pixels` : `${value} percent`}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => set(initial)}
    />
  );
}
