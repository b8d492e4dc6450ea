/** A chart of the last hour with a bar for each minute. It shows the value of the minute under the pointer. */

import { useId, useState, type PointerEvent } from 'react';
import {
  findBusiest,
  roundCeiling,
  formatCount,
  describeSeries,
  sumSeries,
  type ActivityMinute,
  type Series,
} from './activity-series.ts';
import { Link } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { formatClock } from '../../ui/time.tsx';
import { LogDialog } from './log-dialog.tsx';

interface Props {
  readonly series: Series;
  readonly minutes: readonly ActivityMinute[];
}

const height = 100;
const barWidth = 10;
const gap = 2.4;

export function ActivityChart({ series, minutes }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const headingId = useId();
  const last = minutes.length - 1;
  const total = sumSeries(series, minutes);
  const top = roundCeiling(findBusiest(series, minutes)?.count ?? 0);
  const isHighlighted = series.isProblem === true && total > 0;
  const selected = pointed === null ? null : Math.min(pointed, last);
  const minute = selected === null ? undefined : minutes[selected];

  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - left) / width;
    setPointed(Math.max(0, Math.min(last, Math.floor(part * minutes.length))));
  };

  // A minute chosen by key or touch stays until the focus leaves the chart.
  const leave = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(document.activeElement)) setPointed(null);
  };

  return (
    <section className={`operations-chart${isHighlighted ? ' highlighted' : ''}`} aria-labelledby={headingId}>
      <header className="operations-chart-header">
        <h3 id={headingId}>{series.title}</h3>
        <p className="operations-chart-reading number">
          {minute ? (
            <>
              <span className="soft">{formatClock(minute.at)}</span> {formatCount(series, minute[series.key])}
            </>
          ) : (
            formatCount(series, total)
          )}
        </p>
      </header>
      <div className="operations-chart-field" onPointerMove={point} onPointerLeave={leave}>
        <Bars series={series} minutes={minutes} top={top} selected={selected} />
        <span className="operations-chart-top number" aria-hidden="true">
          {total > 0 && top.toLocaleString('en')}
        </span>
        <MinuteSlider series={series} minutes={minutes} selected={selected} onSelect={setPointed} />
      </div>
      <p className="operations-chart-scale number" aria-hidden="true">
        <span>{minutes[0] && formatClock(minutes[0].at)}</span>
        <span>now</span>
      </p>
      <ChartLink series={series} minutes={minutes} />
    </section>
  );
}

/** Links to the counted items: to the screen that lists them, or to the lines of the log. */
function ChartLink({ series, minutes }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { screen, log, title } = series;
  if (screen) return <Link to={screen.path}>{screen.label}</Link>;
  if (!log) return null;
  return (
    <>
      <Button size="small" tone="quiet" onPress={() => setOpen(true)}>
        Find {title.toLowerCase()} in the log
      </Button>
      {isOpen && <LogDialog series={series} log={log} minutes={minutes} onClose={() => setOpen(false)} />}
    </>
  );
}

interface BarsProps extends Props {
  /** The count at the top of the chart. */
  readonly top: number;
  readonly selected: number | null;
}

function Bars({ series, minutes, top, selected }: BarsProps) {
  const last = minutes.length - 1;
  return (
    <svg
      role="img"
      aria-label={describeSeries(series, minutes, formatClock)}
      viewBox={`0 0 ${Math.max(minutes.length, 1) * barWidth} ${height}`}
      preserveAspectRatio="none"
    >
      {selected !== null && (
        <rect className="minute" x={selected * barWidth} y={0} width={barWidth} height={height} />
      )}
      {minutes.map((each, index) => (
        <Bar
          key={each.at}
          index={index}
          part={each[series.key] / top}
          className={index === selected ? 'pointed' : index === last ? 'begun' : undefined}
        />
      ))}
    </svg>
  );
}

interface SliderProps extends Props {
  readonly selected: number | null;
  readonly onSelect: (minute: number | null) => void;
}

/** An invisible slider over the bars, so that keys and touch can select a minute. */
function MinuteSlider({ series, minutes, selected, onSelect }: SliderProps) {
  const last = minutes.length - 1;
  return (
    <input
      type="range"
      aria-label={`Minute of ${series.title.toLowerCase()}`}
      aria-valuetext={formatReading(series, minutes[selected ?? last])}
      min={0}
      max={Math.max(last, 0)}
      value={selected ?? last}
      onChange={(event) => onSelect(Number(event.target.value))}
      onFocus={() => onSelect(selected ?? last)}
      onBlur={() => onSelect(null)}
    />
  );
}

function Bar({ index, part, className }: { index: number; part: number; className?: string | undefined }) {
  // Small values stay visible.
  const tall = part === 0 ? 0 : Math.max(part * height, 3);
  return (
    <rect
      className={className}
      x={index * barWidth + gap / 2}
      y={height - tall}
      width={barWidth - gap}
      height={tall}
    />
  );
}

function formatReading(series: Series, minute: ActivityMinute | undefined): string {
  return minute ? `${formatClock(minute.at)}: ${formatCount(series, minute[series.key])}` : 'Nothing yet';
}
