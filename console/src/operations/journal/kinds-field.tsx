/** A field that selects several kinds of entries. */

import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { useId } from 'react';
import { Icon } from '../../ui/icons.tsx';
import type { JournalKind } from '../../ui/journal-sentence.ts';
import { kindGroups } from './journal-filter.ts';

interface Props {
  readonly kinds: readonly JournalKind[];
  readonly onChange: (kinds: readonly JournalKind[]) => void;
}

export function KindsField({ kinds, onChange }: Props) {
  const labelId = useId();
  const valueId = useId();
  return (
    <div className="field">
      <span className="label" id={labelId}>
        Kind of change
      </span>
      <MenuTrigger>
        <AriaButton className="input select" aria-labelledby={`${labelId} ${valueId}`}>
          <span id={valueId} className={kinds.length === 0 ? 'journal-kinds none' : 'journal-kinds'}>
            {chosenText(kinds)}
          </span>
          <Icon name="down" />
        </AriaButton>
        <Popover className="popover">
          <Menu
            className="menu"
            aria-labelledby={labelId}
            selectionMode="multiple"
            selectedKeys={kinds}
            onSelectionChange={(keys) => keys !== 'all' && onChange([...keys] as JournalKind[])}
          >
            {kindGroups.map(({ label, kinds: ofGroup }) => (
              <MenuSection key={label}>
                <Header className="menu-header">{label}</Header>
                {ofGroup.map(({ id, label: text }) => (
                  <MenuItem key={id} id={id} textValue={text} className="menu-item journal-kind">
                    <Icon name="check" />
                    {text}
                  </MenuItem>
                ))}
              </MenuSection>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </div>
  );
}

function chosenText(kinds: readonly JournalKind[]): string {
  if (kinds.length === 0) return 'Anything';
  const labels = kindGroups.flatMap((group) => group.kinds).filter(({ id }) => kinds.includes(id));
  return labels.length === 1 ? labels[0]!.label : `${labels.length} kinds`;
}
