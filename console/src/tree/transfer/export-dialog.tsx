/** The dialog that exports the folders inside a folder to a file. */

import { fileFormats, formatFolders, type FileFormat } from '@espalier/client/files';
import { useEffect, useRef, useState } from 'react';
import { reportDone } from '../../actions/perform.ts';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import { ActionDialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { saveFile, toFileName } from '../../ui/save-file.ts';
import { formatCount, type TransferFolder } from './import-run.ts';

const formats: Readonly<
  Record<FileFormat, { readonly label: string; readonly help: string; readonly type: string }>
> = {
  csv: {
    label: 'CSV',
    help: 'For spreadsheets. The export puts an apostrophe in front of texts that a spreadsheet would run as formulas.',
    type: 'text/csv',
  },
  json: {
    label: 'JSON',
    help: 'For programs. A list of folders with their paths.',
    type: 'application/json',
  },
  ndjson: { label: 'NDJSON', help: 'For programs that read line by line.', type: 'application/x-ndjson' },
};

interface ExportDialogProps {
  readonly folder: TransferFolder;
  readonly onClose: () => void;
}

export function ExportDialog({ folder, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<FileFormat>('csv');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const run = async () => {
    const stopping = new AbortController();
    running.current = stopping;
    const folders = await whileSignedIn(client.folders.export(folder.id, { signal: stopping.signal }));
    const { type } = formats[format];
    const name = `${toFileName(folder.name)}.${format}`;
    saveFile([...formatFolders(format, folders)], { name, type });
    reportDone(`Exported ${formatCount(folders.length)} to “${name}”`, []);
  };
  return (
    <ActionDialog
      title={`Export “${folder.name}”`}
      verb="Export"
      onClose={onClose}
      onSubmit={run}
      isCancellable
    >
      <p>
        The file contains the folders inside “{folder.name}” that you can see. You can import the file again.
      </p>
      <Select
        label="Format"
        value={format}
        onChange={setFormat}
        options={fileFormats.map((id) => ({ id, ...formats[id] }))}
      />
    </ActionDialog>
  );
}
