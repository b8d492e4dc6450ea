/** Reminds of what was typed on the pages of other folders and not saved. */

import { Link } from '../router.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { drafts, useDrafts } from './draft-store.ts';

export function UnsavedElsewhere({ folderId }: { folderId: string }) {
  const elsewhere = useDrafts().filter((one) => one.isDirty && one.folderId !== folderId);
  if (elsewhere.length === 0) return null;
  return (
    <ul className="folder-notes" aria-label="Unsaved changes elsewhere">
      {elsewhere.map(({ folderId: id, folderName }) => (
        <li key={id} className="folder-note warning">
          <Icon name="edit" />
          <p>
            Your changes of <Link to={`/folders/${id}`}>{folderName}</Link> are not saved yet.
          </p>
          <Button size="small" tone="quiet" onPress={() => drafts.drop(id)}>
            Discard
          </Button>
        </li>
      ))}
    </ul>
  );
}
