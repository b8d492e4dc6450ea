/** Explains a counted problem that no screen lists, and how to find it in the log of the server. */

import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { DataTable, type TableColumn } from '../../ui/data-table.tsx';
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

function createColumns(series: Series): readonly TableColumn<ActivityMinute>[] {
  return [
    { id: 'minute', label: 'Minute', isRowHeader: true, render: ({ at }) => formatClock(at) },
    {
      id: 'count',
      label: 'Count',
      className: 'number',
      render: (minute) => formatCount(series, minute[series.key]),
    },
  ];
}

export function LogDialog({ series, log, minutes, onClose }: LogDialogProps) {
  const command = formatLogCommand(series, log, minutes);
  const counted = minutes.filter((minute) => minute[series.key] > 0).toReversed();
  return (
    <Dialog title={`${formatCount(series, sumSeries(series, minutes))} in the last hour`} onClose={onClose}>
      <div className="dialog-form">
        <p>{log.explanation}</p>
        <p>To print the matching log lines, run this command on the machine of the server:</p>
        <div className="overview-command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy the command" />
        </div>
        <p className="hint">
          Replace espalier.log with your log file. With systemd, remove the file name and put “journalctl
          --unit espalier --output cat |” in front of the command.
        </p>
        <DataTable
          label="Minutes, the latest first"
          columns={createColumns(series)}
          list={{ data: counted }}
          keyOf={({ at }) => at}
          empty={null}
        />
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
