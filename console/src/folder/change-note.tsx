/** A small note beside the title when somebody else has just changed the folder. */

import { useEffect, useState } from 'react';
import { useLive, type FolderChange } from '../graph/live.tsx';
import { useViewer } from '../session/session.tsx';
import { Icon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';

const shownMs = 60_000;

const verbs: Partial<Record<FolderChange['kind'], string>> = {
  CREATE: 'Restored',
  UPDATE: 'Changed',
  MOVE: 'Moved',
};

export function ChangeNote({ folderId }: { folderId: string }) {
  const viewer = useViewer();
  const { listen } = useLive();
  const [change, setChange] = useState<FolderChange | null>(null);

  useEffect(
    () =>
      listen((next) => {
        if (next.folderId !== folderId || next.at === null || !verbs[next.kind]) return;
        setChange(next.by?.id === viewer.id ? null : next);
      }),
    [listen, folderId, viewer.id],
  );
  useEffect(() => {
    if (!change) return;
    const timer = setTimeout(() => setChange(null), shownMs);
    return () => clearTimeout(timer);
  }, [change]);

  return (
    <span className="change-note-place" role="status">
      {change?.at && (
        <span className="label-chip info">
          <Icon name="refresh" />
          {verbs[change.kind]} by {change.by?.username ?? 'somebody'} <Time at={change.at} />
        </span>
      )}
    </span>
  );
}
