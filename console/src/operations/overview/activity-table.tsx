/** The figures of the charts as a table. */

import { useState } from 'react';
import { allSeries, type ActivityMinute } from './activity-series.ts';
import { formatClock } from '../../ui/time.tsx';

export function ActivityTable({ minutes }: { minutes: readonly ActivityMinute[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="overview-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        <div className="table-frame" role="region" aria-label="The last hour as a table" tabIndex={0}>
          <table className="table">
            <caption className="visually-hidden">The last hour by minute, the latest first</caption>
            <thead>
              <tr>
                <th scope="col">Minute</th>
                {allSeries.map(({ key, title }) => (
                  <th key={key} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {minutes.toReversed().map((minute) => (
                <tr key={minute.at} className="number">
                  <th scope="row">{formatClock(minute.at)}</th>
                  {allSeries.map(({ key }) => (
                    <td key={key} className={minute[key] === 0 ? 'soft' : undefined}>
                      {minute[key].toLocaleString('en')}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
