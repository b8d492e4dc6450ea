/** The line between two parts of a page: moved with the pointer or the arrow keys, and remembered. */

import { useState, type KeyboardEvent, type PointerEvent } from 'react';

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly usual: number;
}

export interface Place extends Bounds {
  readonly value: number;
  readonly set: (value: number) => void;
}

/** Where a line is, under this name also when the page is loaded anew. */
export function usePlaceOfDivider(name: string, { least, most, usual }: Bounds): Place {
  const key = `espalier:divider:${name}`;
  const [value, setValue] = useState(() => {
    const kept = readNumber(key);
    return kept >= least && kept <= most ? kept : usual;
  });
  const set = (next: number) => {
    const kept = Math.round(Math.min(most, Math.max(least, next)));
    setValue(kept);
    try {
      localStorage.setItem(key, `${kept}`);
    } catch {
      // It holds until the page is loaded anew.
    }
  };
  return { least, most, usual, value, set };
}

function readNumber(key: string): number {
  try {
    return Number(localStorage.getItem(key) ?? NaN);
  } catch {
    return NaN;
  }
}

interface DividerProps {
  readonly place: Place;
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
  const { place, unit, label, className, step, isHorizontal = false, controls } = props;
  const { value, set, least, most, usual } = place;
  const press = (event: KeyboardEvent) => {
    const next = {
      [isHorizontal ? 'ArrowUp' : 'ArrowLeft']: value - step,
      [isHorizontal ? 'ArrowDown' : 'ArrowRight']: value + step,
      Home: least,
      End: most,
      Enter: usual,
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
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuetext={unit === 'px' ? `${value} pixels` : `${value} percent`}
      onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => set(usual)}
    />
  );
}
