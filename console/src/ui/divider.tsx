/** The line between two parts of a page: moved with the pointer or the arrow keys, and remembered. */

import { useState, type KeyboardEvent, type PointerEvent } from 'react';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly initial: number;
}

export interface DividerPosition extends Bounds {
  readonly value: number;
  readonly set: (value: number) => void;
}

/** Where a line is, under this name also when the page is loaded anew. */
export function useDividerPosition(name: string, { min, max, initial }: Bounds): DividerPosition {
  const key = `espalier:divider:${name}`;
  const [value, setValue] = useState(() => {
    const kept = readNumber(key);
    return kept >= min && kept <= max ? kept : initial;
  });
  const set = (next: number) => {
    const kept = Math.round(Math.min(max, Math.max(min, next)));
    setValue(kept);
    try {
      localStorage.setItem(key, `${kept}`);
    } catch {
      // It holds until the page is loaded anew.
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
  /** By an arrow key. */
  readonly step: number;
  /** Between parts that are one above the other. */
  readonly isHorizontal?: boolean;
  /** The id of the part before it. */
  readonly controls?: string;
}

/** Counts from the beginning of the element that it is in. */
export function Divider(props: DividerProps) {
  const { position, unit, label, className, step, isHorizontal = false, controls } = props;
  const { value, set, min, max, initial } = position;
  const press = (event: KeyboardEvent) => {
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
  const drag = ({ currentTarget: line, pointerId, clientX, clientY }: PointerEvent<HTMLElement>) => {
    if (!line.hasPointerCapture(pointerId)) return;
    const { left, top, width, height } = line.parentElement!.getBoundingClientRect();
    const [at, whole] = isHorizontal ? [clientY - top, height] : [clientX - left, width];
    set(unit === 'px' ? at : (at / whole) * 100);
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
      onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => set(initial)}
    />
  );
}
