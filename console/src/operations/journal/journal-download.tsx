/** Downloads the filtered journal as CSV, with progress and a stop button. */

import { useEffect, useRef, useState } from 'react';
import { describeProblem } from '../../graph/problem.ts';
import { client } from '../../session/client.ts';
import { Button } from '../../ui/button.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { useNow } from '../../ui/time.tsx';
import { exportDocument, exportJournal, type ExportPage, type Progress } from './journal-export.ts';
import type { JournalFilter } from './journal-filter.ts';

export function JournalDownload({ filter }: { filter: JournalFilter }) {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const running = useRef<AbortController>(undefined);
  const now = useNow();
  useEffect(() => () => running.current?.abort(), []);

  const download = async () => {
    const stopping = new AbortController();
    running.current = stopping;
    setProblem(null);
    setProgress({ done: 0, total: 0 });
    try {
      const parts = await exportJournal(
        filter,
        (variables) => client.query<ExportPage>(exportDocument, variables, { signal: stopping.signal }),
        setProgress,
      );
      const name = `espalier-journal-${new Date(now).toISOString().slice(0, 10)}.csv`;
      saveFile(parts, { name, type: 'text/csv' });
    } catch (error) {
      if (!stopping.signal.aborted) setProblem(describeProblem(error).text);
    } finally {
      setProgress(null);
    }
  };

  if (progress === null) {
    return (
      <>
        <Button icon="download" onPress={() => void download()}>
          Export CSV
        </Button>
        {problem !== null && (
          <p className="problem journal-download-problem" role="alert">
            The journal was not downloaded. {problem}
          </p>
        )}
      </>
    );
  }
  const { done, total } = progress;
  return (
    <div className="journal-download" role="group" aria-label="Download">
      <progress aria-label="Download of the journal" {...(total > 0 ? { value: done, max: total } : {})} />
      <span className="number" role="status">
        {total === 0 ? 'Reading…' : `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`}
      </span>
      <Button size="small" onPress={() => running.current?.abort()}>
        Cancel
      </Button>
    </div>
  );
}
