/** Explains a counted problem that no screen lists, and how to find it in the log of the server. */

import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatClock } from '../../ui/time.tsx';
import {
  formatCount,
  formatLogCommand,
  sumSeries,
  type ActivityMinute,
  type LogLines,
  type Series,
} from './activity-series.ts';

interface LogDialogProps {
  readonly series: Series;
  readonly log: LogLines;
  readonly minutes: readonly ActivityMinute[];
  readonly onClose: () => void;
}

const maxListed = 12;

export function LogDialog({ series, log, minutes, onClose }: LogDialogProps) {
  const command = formatLogCommand(series, log, minutes);
  const counted = minutes.filter((minute) => minute[series.key] > 0).toReversed();
  return (
    <Dialog title={`${formatCount(series, sumSeries(series, minutes))} in the last hour`} onClose={onClose}>
      <div className="dialog-form">
        <p>{log.explanation}</p>
        {counted.length > 0 && (
          <ul className="overview-counted" aria-label="Minutes, the latest first">
            {counted.slice(0, maxListed).map((minute) => (
              <li key={minute.at} className="number">
                <span className="soft">{formatClock(minute.at)}</span>{' '}
                {formatCount(series, minute[series.key])}
              </li>
            ))}
            {counted.length > maxListed && (
              <li className="soft">and {counted.length - maxListed} more minutes</li>
            )}
          </ul>
        )}
        <p>Print the lines with this command on the machine of the server:</p>
        <div className="overview-command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy the command" />
        </div>
        <p className="hint">
          Replace espalier.log with your log file. With systemd, remove it and start the command with
          “journalctl --unit espalier --output cat |”.
        </p>
        <footer className="dialog-footer">
          <span className="grow" />
          <Button tone="primary" onPress={onClose}>
            Close
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
