/** The way from the root to the open folder; if it is long, its middle is behind a button. */

import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Link, navigate } from '../router.tsx';
import { Icon } from '../ui/icons.tsx';
import type { FolderLink } from './open-folder.ts';

const mostShown = 4;

export function Breadcrumbs({ ancestors, title }: { ancestors: readonly FolderLink[]; title: string }) {
  if (ancestors.length === 0) return null;
  const isLong = ancestors.length > mostShown;
  const hidden = isLong ? ancestors.slice(1, -2) : [];
  const shown = isLong ? ancestors.slice(-2) : ancestors.slice(1);
  return (
    <nav className="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        <Crumb folder={ancestors[0]!} />
        {hidden.length > 0 && (
          <li>
            <MenuTrigger>
              <AriaButton
                className="breadcrumbs-more"
                aria-label={`${hidden.length} more folders on the way`}
              >
                …
              </AriaButton>
              <Popover className="popover">
                <Menu className="menu" onAction={(id) => navigate(`/folders/${id}`)}>
                  {hidden.map(({ id, title: text }) => (
                    <MenuItem key={id} id={id} textValue={text} className="menu-item">
                      <Icon name="folder" /> {text}
                    </MenuItem>
                  ))}
                </Menu>
              </Popover>
            </MenuTrigger>
            <Icon name="chevron" />
          </li>
        )}
        {shown.map((folder) => (
          <Crumb key={folder.id} folder={folder} />
        ))}
        <li aria-current="page" className="breadcrumbs-here">
          {title}
        </li>
      </ol>
    </nav>
  );
}

function Crumb({ folder: { id, title } }: { folder: FolderLink }) {
  return (
    <li>
      <Link to={`/folders/${id}`}>{title}</Link>
      <Icon name="chevron" />
    </li>
  );
}
