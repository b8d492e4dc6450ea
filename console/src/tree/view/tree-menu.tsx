/** The context menu of a folder. It lists only actions that the viewer may perform. */

import { useRef } from 'react';
import { Menu, MenuItem, Popover, Separator, Text } from 'react-aria-components';
import { Icon, type IconName } from '../../ui/icons.tsx';

export type TreeMenuItemId =
  | 'open'
  | 'create'
  | 'rename'
  | 'move'
  | 'duplicate'
  | 'delete'
  | 'import'
  | 'export'
  | 'favorite'
  | 'link'
  | 'path';

export interface TreeMenuItem {
  readonly id: TreeMenuItemId;
  readonly label: string;
  readonly icon: IconName;
  readonly keys?: string;
}

interface TreeMenuProps {
  readonly label: string;
  readonly at: { readonly x: number; readonly y: number };
  /** Grouped by separators. */
  readonly items: readonly (readonly TreeMenuItem[])[];
  readonly onChoose: (choice: TreeMenuItemId) => void;
  readonly onClose: () => void;
}

export function TreeMenu({ label, at, items, onChoose, onClose }: TreeMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const choose = (id: string | number) => {
    onClose();
    onChoose(id as TreeMenuItemId);
  };
  const groups = items.filter((group) => group.length > 0);
  return (
    <>
      <span ref={anchor} className="tree-menu-anchor" style={{ left: at.x, top: at.y }} />
      <Popover
        className="popover"
        triggerRef={anchor}
        aria-label={label}
        placement="bottom start"
        isOpen
        onOpenChange={(isOpen) => !isOpen && onClose()}
      >
        <Menu className="menu" aria-label={label} autoFocus="first" onAction={choose}>
          {groups.flatMap((group, index) => [
            ...(index === 0 ? [] : [<Separator key={`line ${index}`} className="separator" />]),
            ...group.map(({ id, label: text, icon, keys }) => (
              <MenuItem
                key={id}
                id={id}
                textValue={text}
                className={id === 'delete' ? 'menu-item danger' : 'menu-item'}
              >
                <Icon name={icon} />
                <Text slot="label">{text}</Text>
                {/* Rendered by CSS, so that the keys are not part of the accessible name. */}
                {keys && <span className="tree-menu-keys" data-keys={keys} />}
              </MenuItem>
            )),
          ])}
        </Menu>
      </Popover>
    </>
  );
}
