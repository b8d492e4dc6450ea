/** Formats a change of a folder as a sentence for the page of that folder. */

import { isAccessChange, type FolderChange } from '../../graph/folder-change.ts';

type FormattedChange = Pick<FolderChange, 'kind' | 'at' | 'by' | 'oldParent' | 'newParent' | 'folderCount'>;

export function formatChange(change: FormattedChange): string {
  const { kind, by, oldParent, newParent, folderCount } = change;
  const who = by?.username ?? 'Another user';
  switch (kind) {
    case 'CREATE':
      return isAccessChange(change) ? 'It became visible to you' : `${who} created it or moved it here`;
    case 'UPDATE':
      return isAccessChange(change) ? 'Your access to it changed' : `${who} changed it`;
    case 'MOVE': {
      const from = oldParent ? ` from “${oldParent.name}”` : '';
      const to = newParent ? ` to “${newParent.name}”` : '';
      return `${who} moved it${from}${to}`;
    }
    case 'DELETE':
      return isAccessChange(change) ? 'It was hidden from you' : `${who} deleted it`;
    case 'IMPORT': {
      const count = (folderCount ?? 0).toLocaleString('en');
      return `${who} imported ${count} ${folderCount === 1 ? 'folder' : 'folders'} into it`;
    }
    case 'RESYNC':
      return 'The details of some changes are not available';
  }
}
