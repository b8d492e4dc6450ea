/** Buttons: of words, and of a symbol alone, which then has a name and a tooltip. */

import {
  Button as AriaButton,
  Tooltip,
  TooltipTrigger,
  type ButtonProps as AriaProps,
} from 'react-aria-components';
import type { ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icons.tsx';

export interface ButtonProps extends Omit<AriaProps, 'className' | 'children' | 'style'> {
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly children?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

export function Button({ tone = 'plain', size = 'normal', icon, children, ...others }: ButtonProps) {
  return (
    <AriaButton {...atWork(others)} className={`button ${tone} ${size}`}>
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
      <AriaButton {...atWork(others)} aria-label={label} className={`icon-button ${others.tone ?? 'quiet'}`}>
        {others.isPending ? <Spinner /> : <Icon name={icon} />}
      </AriaButton>
      <Tooltip className="tooltip">{label}</Tooltip>
    </TooltipTrigger>
  );
}

/**
 * One that is at work keeps the focus and does nothing. The library's own way tells screen readers of the button by a reference,
 * which leads nowhere as soon as the button goes with its form.
 */
function atWork({ isPending, ...others }: AriaProps): AriaProps {
  if (!isPending) return others;
  const type = others.type === 'submit' ? 'button' : others.type;
  return { ...others, 'aria-disabled': true, onPress: () => undefined, ...(type && { type }) };
}

export function Spinner() {
  return <span className="spinner" aria-hidden="true" />;
}
