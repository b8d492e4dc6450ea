/** Buttons with text, icon buttons with a tooltip, and menus of actions: behind a button with three dots, or at the pointer. */

import {
  Button as AriaButton,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
  Separator,
  Text,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaProps,
} from 'react-aria-components';
import { useRef, type ReactNode, type Ref } from 'react';
import { Icon, type IconName } from './icons.tsx';
import { formatName, Name } from './text.tsx';

interface ButtonProps extends Omit<AriaProps, 'className' | 'children' | 'style'> {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly children?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

export function Button({ tone = 'plain', size = 'normal', icon, children, ...others }: ButtonProps) {
  return (
    <AriaButton {...withMarkedLabel(withoutPresses(others))} className={`button ${tone} ${size}`}>
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
        aria-label={formatName(label)}
        className={`icon-button ${others.tone ?? 'quiet'}`}
      >
        {others.isPending ? <Spinner /> : <Icon name={icon} />}
      </AriaButton>
      <Tooltip className="tooltip">
        <Name>{label}</Name>
      </Tooltip>
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

/** Marks invisible characters in the accessible label, because the label can contain names. */
function withMarkedLabel({ 'aria-label': label, ...others }: AriaProps): AriaProps {
  return label === undefined ? others : { ...others, 'aria-label': formatName(label) };
}

export function Spinner() {
  return <span className="spinner" aria-hidden="true" />;
}

export interface MenuAction {
  readonly label: string;
  readonly icon: IconName;
  readonly help?: string;
  /** The displayed keyboard shortcut. */
  readonly keys?: string;
  readonly isDanger?: boolean;
  readonly onAction: () => void;
}

/** The menu has separators between the groups. */
export type MenuGroups = readonly (readonly MenuAction[])[];

interface ActionMenuProps {
  readonly label: string;
  /** Called when the menu opens. */
  readonly list: () => MenuGroups;
}

/** Further actions, behind a button with three dots. */
export function ActionMenu({ label, list }: ActionMenuProps) {
  return (
    <MenuTrigger>
      <AriaButton className="icon-button plain" aria-label={formatName(label)}>
        <Icon name="more" className="dots" />
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <MenuList list={list} />
      </Popover>
    </MenuTrigger>
  );
}

interface ContextMenuProps extends ActionMenuProps {
  readonly at: { readonly x: number; readonly y: number };
  readonly onClose: () => void;
}

/** An open menu at a point of the window. */
export function ContextMenu({ label, at, list, onClose }: ContextMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <>
      <span ref={anchor} className="menu-anchor" style={{ left: at.x, top: at.y }} />
      <Popover
        className="popover"
        triggerRef={anchor}
        aria-label={formatName(label)}
        placement="bottom start"
        isOpen
        onOpenChange={(isOpen) => !isOpen && onClose()}
      >
        <MenuList label={label} list={list} onClose={onClose} />
      </Popover>
    </>
  );
}

interface MenuListProps {
  readonly label?: string;
  readonly list: () => MenuGroups;
  /** Called before the chosen action. */
  readonly onClose?: () => void;
}

function MenuList({ label, list, onClose }: MenuListProps) {
  const groups = list();
  const choose = (key: string | number) => {
    onClose?.();
    groups
      .flat()
      .find((action) => action.label === key)
      ?.onAction();
  };
  return (
    <Menu
      className="menu"
      {...(label !== undefined && { 'aria-label': formatName(label), autoFocus: 'first' })}
      onAction={choose}
    >
      {groups.flatMap((group, index) => [
        ...(index === 0 ? [] : [<Separator key={index} className="separator" />]),
        ...group.map((action) => <ActionItem key={action.label} action={action} />),
      ])}
    </Menu>
  );
}

function ActionItem({ action: { label, icon, help, keys, isDanger } }: { action: MenuAction }) {
  return (
    <MenuItem id={label} textValue={label} className={isDanger ? 'menu-item danger' : 'menu-item'}>
      <Icon name={icon} />
      <Text slot="label">
        <Name>{label}</Name>
        {help && <span className="menu-item-help">{help}</span>}
      </Text>
      {/* Rendered by CSS, so that the keys are not part of the accessible name. */}
      {keys && <span className="menu-keys" data-keys={keys} />}
    </MenuItem>
  );
}
