/** What can be done with a folder, where it was pointed at. What one may not do is not offered. */

import { useRef } from 'react';
import { Menu, MenuItem, Popover, Separator, Text } from 'react-aria-components';
import { Icon, type IconName } from '../../ui/icons.tsx';

export type MenuChoice = 'open' | 'create' | 'rename' | 'move' | 'delete' | 'link' | 'path';

export interface MenuOffer {
  readonly id: MenuChoice;
  readonly label: string;
  readonly icon: IconName;
  readonly keys?: string;
}

interface TreeMenuProps {
  readonly label: string;
  readonly at: { readonly x: number; readonly y: number };
  /** In groups. */
  readonly offers: readonly (readonly MenuOffer[])[];
  readonly onChoose: (choice: MenuChoice) => void;
  readonly onClose: () => void;
}

export function TreeMenu({ label, at, offers, onChoose, onClose }: TreeMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const choose = (id: string | number) => {
    onClose();
    onChoose(id as MenuChoice);
  };
  const groups = offers.filter((group) => group.length > 0);
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
                {/* Not a part of what it is called. */}
                {keys && <span className="tree-menu-keys" data-keys={keys} />}
              </MenuItem>
            )),
          ])}
        </Menu>
      </Popover>
    </>
  );
}
