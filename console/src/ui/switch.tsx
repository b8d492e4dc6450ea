/** Something that is on or off, and takes effect at once. */

import type { ReactNode } from 'react';
import { Switch as AriaSwitch } from 'react-aria-components';
import './switch.css';

interface SwitchProps {
  readonly isSelected: boolean;
  readonly children: ReactNode;
  readonly onChange: (isSelected: boolean) => void;
}

export function Switch({ isSelected, onChange, children }: SwitchProps) {
  return (
    <AriaSwitch className="switch" isSelected={isSelected} onChange={onChange}>
      <span className="switch-track" aria-hidden="true" />
      {children}
    </AriaSwitch>
  );
}
