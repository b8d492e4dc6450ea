/** The rights with which a request is answered. In a view, they are those of the viewed user, while the viewer is an administrator. */

import type { AccessCache, LatestAccess } from '../access/access-cache.ts';
import { whenDone, whenFailed, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Snapshot } from '../database/database.ts';
import type { JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { effectiveUserId, type Viewer } from '../sessions/auth-token.ts';
import { viewEnded } from '../sessions/view-as.ts';

/** The latest rights. Refuses a viewer who can no longer log in, and a view that has ended. */
export function accessOfViewer(accessCache: AccessCache, viewer: Viewer): PromiseOrValue<LatestAccess> {
  return checkView(viewer, (userId) => accessCache.accessOf(userId));
}

/** The same in a snapshot: in a view, both users are read in it. */
export function accessInSnapshot(
  accessCache: AccessCache,
  snapshot: Snapshot,
  viewer: Viewer,
  knownHead?: JournalHead,
): PromiseOrValue<LatestAccess> {
  return checkView(viewer, (userId) => accessCache.accessFor(snapshot, userId, knownHead));
}

function checkView(
  viewer: Viewer,
  read: (userId: string) => PromiseOrValue<LatestAccess>,
): PromiseOrValue<LatestAccess> {
  if (!viewer.view) return read(viewer.userId);
  return whenDone(read(viewer.userId), ({ access: { isAdministrator } }) => {
    if (!isAdministrator) throw viewEnded();
    return whenFailed(
      () => read(effectiveUserId(viewer)),
      (error): never => {
        // The viewed user was disabled or deleted. The auth token of the administrator is still valid.
        throw error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN' ? viewEnded() : error;
      },
    );
  });
}
