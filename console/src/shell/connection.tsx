/** Shows whether the page receives changes from the server. */

import { useLive, type LiveStatus } from '../graph/live.tsx';

const texts: Readonly<Record<LiveStatus, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Offline',
};

export function Connection() {
  const { status } = useLive();
  return (
    <span className={`connection ${status}`} role="status">
      <span className="dot" aria-hidden="true" />
      {texts[status]}
    </span>
  );
}
