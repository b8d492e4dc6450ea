/** Buttons with text, icon buttons with a tooltip, and a menu behind a button with three dots. */

import {
  Button as AriaButton,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
  Text,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaProps,
} from 'react-aria-components';
import type { ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps extends Omit<AriaProps, 'className' | 'children' | 'style'> {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly children?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

export function Button({ tone = 'plain', size = 'normal', icon, children, ...others }: ButtonProps) {
  return (
    <AriaButton {...withoutPresses(others)} className={`button ${tone} ${size}`}>
      {others.isPending ? <Spinner /> : icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

export function IconButton({
  label,
  icon,
  ...others
}: Omit<ButtonProps, 'children'> & { label: string; icon: IconName }) {
  return (
    <TooltipTrigger delay={600}>
      <AriaButton
        {...withoutPresses(others)}
        aria-label={label}
        className={`icon-button ${others.tone ?? 'quiet'}`}
      >
        {others.isPending ? <Spinner /> : <Icon name={icon} />}
      </AriaButton>
      <Tooltip className="tooltip">{label}</Tooltip>
    </TooltipTrigger>
  );
}

/**
 * A pending button keeps the focus and ignores presses. The library's own `isPending` announces the button by an id reference,
 * which is invalid once the button disappears with its form.
 */
function withoutPresses({ isPending, ...others }: AriaProps): AriaProps {
  if (!isPending) return others;
  const type = others.type === 'submit' ? 'button' : others.type;
  return { ...others, 'aria-disabled': true, onPress: () => undefined, ...(type && { type }) };
}

export function Spinner() {
  return <span className="spinner" aria-hidden="true" />;
}

export interface MenuAction {
  readonly label: string;
  readonly icon: IconName;
  readonly help?: string;
  readonly isDanger?: boolean;
  readonly onAction: () => void;
}

/** Further actions, behind a button with three dots. */
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
