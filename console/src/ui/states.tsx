/** Placeholders for content: loading, empty, failed, and no access. */

import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { describeProblem } from '../graph/problem.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';
import { Name } from './text.tsx';

interface StateProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly role?: 'status' | 'alert';
}

function State({ icon, title, children, role }: StateProps) {
  return (
    <div className="state" role={role}>
      <Icon name={icon} />
      <p className="state-title">
        <Name>{title}</Name>
      </p>
      {children}
    </div>
  );
}

/** The children explain why there is no content, or offer an action. */
export function Empty({ icon, title, children }: Omit<StateProps, 'role'>) {
  return (
    <State icon={icon} title={title}>
      {children}
    </State>
  );
}

/** Gray lines in the size of the content, so that the layout does not jump. */
export function Loading({ lines = 4, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div className="loading" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="loading-line" />
      ))}
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { code, text } = describeProblem(error);
  if (code === 'FORBIDDEN') return <NoAccess>{text}</NoAccess>;
  return (
    <State icon="warning" title="This could not be loaded" role="alert">
      <p>{text}</p>
      {retry && (
        <Button icon="refresh" onPress={retry}>
          Try again
        </Button>
      )}
    </State>
  );
}

export function NoAccess({ children }: { children?: ReactNode }) {
  return (
    <State icon="shield" title="You do not have access to this">
      <p>{children ?? 'Ask an administrator for access.'}</p>
    </State>
  );
}

/** Renders the data of a query, or its loading or failed state. */
export function QueryResult<Result>({
  query: { data, error, isPending, refetch },
  loading = <Loading />,
  children,
}: {
  query: Pick<UseQueryResult<Result>, 'data' | 'error' | 'isPending'> & { refetch: () => unknown };
  loading?: ReactNode;
  children: (data: Result) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  return isPending ? loading : null;
}
