/** Starts the single sign-on, in this tab or in a new one. */

import { EspalierError } from '@espalier/client';
import { useEffect, useState } from 'react';
import { curlQuotes, describeProblem } from '../../graph/problem.ts';
import { toAddress, useLocation } from '../../router.tsx';
import { leaveForProvider, readRequestedPath, signInSegment } from '../../session/single-sign-on.ts';
import { Button } from '../../ui/button.tsx';
import { Name } from '../../ui/text.tsx';
import { Problem } from './problem.tsx';

interface SingleSignOnButtonProps {
  readonly name: string;
  /** Opens the sign-in page in a new tab, because this tab has unsaved work. Tabs share the session. */
  readonly opensTab: boolean;
}

export function SingleSignOnButton({ name, opensTab }: SingleSignOnButtonProps) {
  const { path, parts } = useLocation();
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  // The browser can restore this page when the user comes back from the provider.
  useEffect(() => {
    const reset = () => setPending(false);
    addEventListener('pageshow', reset);
    return () => removeEventListener('pageshow', reset);
  }, []);

  const start = async () => {
    if (opensTab) return void open(toAddress('/'), '_blank', 'noopener');
    setPending(true);
    setProblem(null);
    try {
      await leaveForProvider(null, parts[0] === signInSegment ? (readRequestedPath() ?? '/') : path);
    } catch (error) {
      setProblem(describeProblem(error).text);
      setPending(false);
    }
  };
  return (
    <>
      {problem !== null && <Problem>{problem}</Problem>}
      <Button tone="primary" icon="key" isPending={isPending} onPress={() => void start()} autoFocus>
        <Name>{`Sign in with ${name}${opensTab ? ' in a new tab' : ''}`}</Name>
      </Button>
    </>
  );
}

/** Explains why the browser returned from the provider without a session. */
export function describeReturn(error: unknown): string {
  // The server uses this code also for a wrong password, for which the console has its own text.
  const isCode = error instanceof EspalierError && error.code === 'INVALID_CREDENTIALS';
  return isCode ? curlQuotes(error.message) : describeProblem(error).text;
}
