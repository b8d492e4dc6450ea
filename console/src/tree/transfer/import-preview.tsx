/** The preview of an import: its first folders, its problems, and what the server would do. */

import type { ImportResult } from '@espalier/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { describeProblem, isTransient } from '../../graph/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Name } from '../../ui/text.tsx';
import {
  acceptedTypes,
  type ImportFile,
  formatCount,
  previewImport,
  type OnExisting,
  type TransferFolder,
} from './import-run.ts';

const maxRows = 5;
const maxProblems = 20;
const maxTextLength = 120;

interface ImportPreviewProps {
  readonly folder: TransferFolder;
  readonly file: ImportFile;
  /** The error of the server, after an import that it refused. */
  readonly problem: string | undefined;
  readonly onImport: (file: ImportFile, onExisting: OnExisting) => void;
  readonly onChoose: (file: File) => void;
  readonly onClose: () => void;
}

export function ImportPreview(props: ImportPreviewProps) {
  const { folder, file, problem, onImport, onChoose, onClose } = props;
  const [choice, setChoice] = useState<OnExisting>('KEEP');
  const isValid = file.problemCount === 0;
  const effects = useQuery({
    queryKey: ['importPreview', folder.id, file, choice],
    queryKeyHashFn: () => `importPreview ${folder.id} ${file.name} ${choice}`,
    enabled: isValid,
    gcTime: 0,
    staleTime: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => previewImport(folder, file, choice, signal),
  });
  const { data, error, isPlaceholderData } = effects;
  const existing = data ? data.updatedCount + data.keptCount : 0;
  const hasEffect = data !== undefined && data.createdCount + data.updatedCount > 0;
  const isReady = isValid && hasEffect && !error && !isPlaceholderData;
  return (
    <>
      {problem !== undefined && (
        <p className="problem" role="alert">
          Nothing was imported. {problem}
        </p>
      )}
      {isValid ? <FirstFolders file={file} /> : <Problems file={file} />}
      {isValid && (existing > 0 || choice !== 'KEEP') && (
        <Select label="Folders that exist already" value={choice} options={choices} onChange={setChoice} />
      )}
      {isValid && <Effects counts={data} error={error} retry={() => void effects.refetch()} />}
      <footer className="dialog-footer">
        <FileButton label="Choose another file…" onChoose={onChoose} />
        <span className="grow" />
        <Button onPress={onClose}>Cancel</Button>
        {isValid && (
          <Button
            tone="primary"
            isDisabled={!isReady}
            // A folder that another user creates in the meantime must not be merged without a choice.
            onPress={() => onImport(file, existing > 0 ? choice : 'FAIL')}
          >
            Import
          </Button>
        )}
      </footer>
    </>
  );
}

const choices = [
  { id: 'KEEP', label: 'Skip them', help: 'Only create the missing folders.' },
  { id: 'UPDATE', label: 'Update them', help: 'Set the texts and properties that the file contains.' },
  { id: 'FAIL', label: 'Stop', help: 'Import nothing if a folder exists.' },
] as const;

interface EffectsProps {
  readonly counts: ImportResult | undefined;
  readonly error: unknown;
  readonly retry: () => void;
}

function Effects({ counts, error, retry }: EffectsProps) {
  if (error) {
    return (
      <div className="problem" role="alert">
        <p>{describeProblem(error).text}</p>
        {isTransient(error) && (
          <Button size="small" icon="refresh" onPress={retry}>
            Try again
          </Button>
        )}
      </div>
    );
  }
  if (!counts) return <p role="status">Checking what this import changes…</p>;
  const { createdCount, updatedCount, keptCount } = counts;
  const parts = [
    `Creates ${formatCount(createdCount)}`,
    ...(updatedCount > 0 ? [`updates ${formatCount(updatedCount)}`] : []),
    ...(keptCount > 0
      ? [`keeps ${formatCount(keptCount)} that ${keptCount === 1 ? 'exists' : 'exist'}`]
      : []),
  ];
  const isEmpty = createdCount + updatedCount === 0;
  return (
    <p role="status">
      {isEmpty ? 'All these folders exist already. Nothing changes.' : `${parts.join(', ')}.`}
    </p>
  );
}

function FirstFolders({ file }: { file: ImportFile }) {
  const rows = file.folders.slice(0, maxRows);
  const rest = file.folders.length - rows.length;
  return (
    <div className="import-frame">
      <table className="table import-table import-folders">
        <caption>
          <Name>{`“${file.name}”: ${formatCount(file.folders.length)}`}</Name>
        </caption>
        <thead>
          <tr>
            <th scope="col">Folder</th>
            <th scope="col">Title</th>
            <th scope="col">More</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, title, icon, description, properties }) => (
            <tr key={path}>
              <th scope="row">
                <Name>{shorten(path.replace(/^\/|\/$/g, ''))}</Name>
              </th>
              <td>
                <Name>{shorten(title ?? '')}</Name>
              </td>
              <td className="soft">
                <Name>
                  {[icon, description, properties && JSON.stringify(properties)]
                    .filter(Boolean)
                    .map((text) => shorten(text!))
                    .join(' · ')}
                </Name>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && <p className="soft import-rest">and {rest.toLocaleString('en')} more</p>}
    </div>
  );
}

function Problems({ file: { name, problems, problemCount } }: { file: ImportFile }) {
  const listed = problems.slice(0, maxProblems);
  const rest = problemCount - listed.length;
  return (
    <>
      <p className="problem" role="alert">
        <Name>{`“${name}” has ${problemCount === 1 ? 'one error' : `${problemCount.toLocaleString('en')} errors`}.`}</Name>{' '}
        Correct the file and choose it again. Nothing was imported.
      </p>
      <div className="import-frame">
        <table className="table import-table import-problems">
          <thead>
            <tr>
              <th scope="col">Position</th>
              <th scope="col">Folder</th>
              <th scope="col">Error</th>
            </tr>
          </thead>
          <tbody>
            {listed.map(({ where, path, message }, index) => (
              <tr key={index}>
                <th scope="row">{where}</th>
                <td>
                  <Name>{path}</Name>
                </td>
                <td>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {rest > 0 && <p className="soft import-rest">and {rest.toLocaleString('en')} more</p>}
      </div>
    </>
  );
}

function shorten(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

interface FileButtonProps {
  readonly label: string;
  readonly isPrimary?: boolean;
  readonly onChoose: (file: File) => void;
}

export function FileButton({ label, isPrimary = false, onChoose }: FileButtonProps) {
  return (
    <FileTrigger
      acceptedFileTypes={acceptedTypes}
      onSelect={(files) => {
        const file = files?.[0];
        if (file) onChoose(file);
      }}
    >
      <Button icon="upload" tone={isPrimary ? 'primary' : 'plain'} autoFocus={isPrimary}>
        {label}
      </Button>
    </FileTrigger>
  );
}
