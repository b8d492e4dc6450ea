/** A menu of further actions behind a button with three dots. */

import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover, Text } from 'react-aria-components';
import { Icon, type IconName } from './icons.tsx';

export interface MenuAction {
  readonly label: string;
  readonly icon: IconName;
  readonly help?: string;
  readonly isDanger?: boolean;
  readonly onAction: () => void;
}

export function ActionMenu({ label, actions }: { label: string; actions: readonly MenuAction[] }) {
  return (
    <MenuTrigger>
      <AriaButton className="icon-button plain" aria-label={label}>
        <Icon name="more" className="dots" />
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" onAction={(key) => actions.find((action) => action.label === key)?.onAction()}>
          {actions.map(({ label: text, icon, help, isDanger }) => (
            <MenuItem
              key={text}
              id={text}
              textValue={text}
              className={isDanger ? 'menu-item danger' : 'menu-item'}
            >
              <Icon name={icon} />
              <Text slot="label">
                {text}
                {help && <span className="menu-item-help">{help}</span>}
              </Text>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
