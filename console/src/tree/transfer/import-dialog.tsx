/** The dialog that imports a file into a folder: choose, preview, import, result. */

import type { ErrorCode, ImportResult } from '@espalier/client';
import { FileError } from '@espalier/client/files';
import { useEffect, useRef, useState } from 'react';
import { DropZone, Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { undoLast } from '../../actions/toasts.ts';
import { describeProblem } from '../../graph/problem.ts';
import { navigate } from '../../router.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Name } from '../../ui/text.tsx';
import { FileButton, ImportPreview } from './import-preview.tsx';
import {
  formatCount,
  ImportRun,
  readImportFile,
  type ImportFile,
  type OnExisting,
  type TransferFolder,
} from './import-run.ts';

type Result = ImportResult & { readonly canUndo: boolean };

type Step =
  | { readonly kind: 'choose'; readonly problem?: string }
  | { readonly kind: 'read'; readonly fileName: string; readonly count: number }
  | { readonly kind: 'preview'; readonly file: ImportFile; readonly problem?: string }
  | { readonly kind: 'import'; readonly file: ImportFile; readonly problem?: string }
  | { readonly kind: 'done'; readonly result: Result };

interface ImportDialogProps {
  readonly folder: TransferFolder;
  readonly file?: File;
  readonly onClose: () => void;
}

export function ImportDialog({ folder, file, onClose }: ImportDialogProps) {
  const { step, read, start, retry, cancel } = useImport(folder, file);
  const content = useRef<HTMLDivElement>(null);
  // The focused control may have disappeared together with the previous step.
  useEffect(() => {
    if (!content.current?.contains(document.activeElement)) content.current?.focus();
  }, [step.kind]);
  const close = () => {
    cancel();
    onClose();
  };
  return (
    <Dialog title={`Import into “${folder.name}”`} size="wide" onClose={close}>
      <div className="dialog-form" ref={content} tabIndex={-1}>
        {step.kind === 'choose' && <ChooseFile problem={step.problem} onChoose={read} onClose={close} />}
        {step.kind === 'read' && <Reading {...step} onClose={close} />}
        {step.kind === 'preview' && (
          <ImportPreview
            folder={folder}
            file={step.file}
            problem={step.problem}
            onImport={start}
            onChoose={read}
            onClose={close}
          />
        )}
        {step.kind === 'import' &&
          (step.problem === undefined ? (
            <Busy
              text={`Importing “${step.file.name}”. The server imports all folders or none.`}
              cancelLabel="Cancel import"
              onClose={close}
            />
          ) : (
            <Interrupted problem={step.problem} onRetry={retry} onClose={close} />
          ))}
        {step.kind === 'done' && <ResultSummary folder={folder} result={step.result} onClose={onClose} />}
      </div>
    </Dialog>
  );
}

/** The error codes with which the server refuses an import. After any other error, the import may have run. */
const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['BAD_INPUT', 'NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'TOO_EXPENSIVE', 'TOO_LARGE'] as const),
]);

/** Holds the current step of one import. A dropped file is read immediately. */
function useImport(folder: TransferFolder, dropped: File | undefined) {
  const [step, setStep] = useState<Step>({ kind: 'choose' });
  const run = useRef<ImportRun>(undefined);
  const reading = useRef<AbortController>(undefined);

  const read = (file: File) => {
    reading.current?.abort();
    const { signal } = (reading.current = new AbortController());
    const onProgress = (count: number) => setStep({ kind: 'read', fileName: file.name, count });
    onProgress(0);
    readImportFile(file, { onProgress, signal }).then(
      (next) => !signal.aborted && setStep({ kind: 'preview', file: next }),
      (error: unknown) => {
        const problem = error instanceof FileError ? error.message : describeProblem(error).text;
        if (!signal.aborted) setStep({ kind: 'choose', problem });
      },
    );
  };
  const send = (file: ImportFile, started: ImportRun) => {
    setStep({ kind: 'import', file });
    started.send().then(
      (result) => setStep({ kind: 'done', result }),
      (error: unknown) => {
        const { code, text } = describeProblem(error);
        setStep({ kind: refusals.has(code) ? 'preview' : 'import', file, problem: text });
      },
    );
  };
  useEffect(() => {
    if (dropped) read(dropped);
    return () => {
      reading.current?.abort();
      run.current?.leave();
    };
  }, [dropped]);

  const start = (file: ImportFile, onExisting: OnExisting) => {
    run.current = new ImportRun(folder, file, onExisting);
    send(file, run.current);
  };
  const retry = () => {
    if (step.kind === 'import' && run.current) send(step.file, run.current);
  };
  const cancel = () => {
    if (step.kind === 'import') void run.current?.cancel();
  };
  return { step, read, start, retry, cancel };
}

interface ChooseFileProps {
  readonly problem: string | undefined;
  readonly onChoose: (file: File) => void;
  readonly onClose: () => void;
}

function ChooseFile({ problem, onChoose, onClose }: ChooseFileProps) {
  return (
    <>
      {problem !== undefined && (
        <p className="problem" role="alert">
          <Name>{problem}</Name> Nothing was imported.
        </p>
      )}
      <DropZone
        className="drop-zone"
        aria-label="Drop a file"
        onDrop={({ items }) => {
          const file = items.find((item) => item.kind === 'file');
          if (file) void file.getFile().then(onChoose);
        }}
      >
        <p>Drop a CSV, JSON or NDJSON file here, or</p>
        <FileButton label="Choose a file…" isPrimary onChoose={onChoose} />
      </DropZone>
      <Formats />
      <footer className="dialog-footer">
        <Button onPress={onClose}>Cancel</Button>
      </footer>
    </>
  );
}

const formats = [
  {
    id: 'csv',
    label: 'CSV',
    text: 'The first line names the columns: path, title, icon, description and properties. Write the properties as JSON in one column, or give each property its own column, for example properties.floor. Only path is required.',
    example: `path,title,icon,properties.floor
Building A,Main building,⌂,
Building A/Room 1,,,2`,
  },
  {
    id: 'json',
    label: 'JSON',
    text: 'A list of folders. Each folder has either a name, with its subfolders in “folders”, or a path, as in the other formats. The fields title, icon, description and properties are optional.',
    example: `[
  {
    "name": "Building A",
    "title": "Main building",
    "folders": [{ "name": "Room 1", "properties": { "floor": 2 } }]
  }
]`,
  },
  {
    id: 'ndjson',
    label: 'NDJSON',
    text: 'Each line is the JSON object of one folder, with the fields path, title, icon, description and properties. Only path is required.',
    example: `{"path": "Building A", "title": "Main building"}
{"path": "Building A/Room 1", "properties": {"floor": 2}}`,
  },
] as const;

/** Explains the content of a file, with one example in each format. */
function Formats() {
  return (
    <div className="import-formats">
      <p className="soft">
        The path “Building A/Room 1” creates “Room 1” inside “Building A”. Missing parent folders are created.
      </p>
      <Tabs className="tabs">
        <TabList className="tab-list" aria-label="File formats">
          {formats.map(({ id, label }) => (
            <Tab key={id} id={id} className="tab">
              {label}
            </Tab>
          ))}
        </TabList>
        {formats.map(({ id, text, example }) => (
          <TabPanel key={id} id={id} className="import-format">
            <p className="soft">{text}</p>
            <pre className="import-example">{example}</pre>
          </TabPanel>
        ))}
      </Tabs>
    </div>
  );
}

interface BusyProps {
  readonly text: string;
  readonly cancelLabel?: string;
  readonly onClose: () => void;
}

function Busy({ text, cancelLabel = 'Cancel', onClose }: BusyProps) {
  return (
    <>
      <p role="status">
        <Name>{text}</Name>
      </p>
      <progress className="transfer-progress" aria-label="Progress" />
      <footer className="dialog-footer">
        <Button autoFocus onPress={onClose}>
          {cancelLabel}
        </Button>
      </footer>
    </>
  );
}

interface ReadingProps {
  readonly fileName: string;
  readonly count: number;
  readonly onClose: () => void;
}

function Reading({ fileName, count, onClose }: ReadingProps) {
  const progress = count === 0 ? '' : ` ${formatCount(count)}`;
  return <Busy text={`Reading “${fileName}”…${progress}`} onClose={onClose} />;
}

interface InterruptedProps {
  readonly problem: string;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

/** The outcome is unknown: the server may have received the request. */
function Interrupted({ problem, onRetry, onClose }: InterruptedProps) {
  return (
    <>
      <div className="problem" role="alert">
        <p>{problem}</p>
        <p>
          The server imports all folders or none. You can safely try again: the server does not run the same
          import twice.
        </p>
      </div>
      <footer className="dialog-footer">
        <Button onPress={onClose}>Cancel import</Button>
        <Button tone="primary" icon="refresh" autoFocus onPress={onRetry}>
          Try again
        </Button>
      </footer>
    </>
  );
}

interface ResultSummaryProps {
  readonly folder: TransferFolder;
  readonly result: Result;
  readonly onClose: () => void;
}

function ResultSummary({ folder, result, onClose }: ResultSummaryProps) {
  const { createdCount, updatedCount, keptCount, canUndo } = result;
  return (
    <>
      <div role="status">
        <p>
          Created {formatCount(createdCount)} in “<Name>{folder.name}</Name>”.
        </p>
        {updatedCount > 0 && <p>Updated {formatCount(updatedCount)}.</p>}
        {keptCount > 0 && <p>Kept {formatCount(keptCount)} unchanged.</p>}
        {!canUndo && createdCount + updatedCount > 0 && (
          <p className="soft">
            This import cannot be undone here. The history of “<Name>{folder.name}</Name>” lists it.
          </p>
        )}
      </div>
      <footer className="dialog-footer">
        {canUndo && (
          <Button
            icon="undo"
            onPress={() => {
              undoLast();
              onClose();
            }}
          >
            Undo
          </Button>
        )}
        <span className="grow" />
        <Button onPress={onClose}>Done</Button>
        <Button
          tone="primary"
          autoFocus
          onPress={() => {
            onClose();
            navigate(`/folders/${folder.id}?tab=folders`);
          }}
        >
          Show the folder
        </Button>
      </footer>
    </>
  );
}
