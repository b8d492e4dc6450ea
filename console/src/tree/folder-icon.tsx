/** The icon of a folder: its own if it is a sign that can be shown as text, such as an emoji. */

import { Icon } from '../ui/icons.tsx';

/** Clients may keep anything there: names of symbols, addresses. */
function isSign(icon: string): boolean {
  return [...icon].length <= 4 && !/[\w/:.]/.test(icon);
}

export function FolderIcon({ icon }: { icon: string | null }) {
  return icon !== null && isSign(icon) ? (
    <span className="folder-sign" aria-hidden="true">
      {icon}
    </span>
  ) : (
    <Icon name="folder" />
  );
}
