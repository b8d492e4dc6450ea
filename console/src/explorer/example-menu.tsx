/** The menu of examples. Each opens in a new tab. */

import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { useViewer } from '../session/session.tsx';
import { Icon } from '../ui/icons.tsx';
import { exampleGroups, type Example } from './example.ts';
import { examples } from './examples.ts';

export function ExampleMenu({ onChoose }: { onChoose: (example: Example) => void }) {
  const { isAdministrator } = useViewer();
  const offered = examples.filter(({ forAdministrators }) => isAdministrator || !forAdministrators);
  return (
    <MenuTrigger>
      <AriaButton className="button">
        <Icon name="book" />
        Examples
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover explorer-examples" placement="bottom start">
        <Menu
          className="menu"
          onAction={(id) => {
            const chosen = offered.find((example) => example.id === id);
            if (chosen) onChoose(chosen);
          }}
        >
          {exampleGroups.map((group) => {
            const ofGroup = offered.filter((example) => example.group === group);
            if (ofGroup.length === 0) return null;
            return (
              <MenuSection key={group}>
                <Header className="menu-header">{group}</Header>
                {ofGroup.map(({ id, label }) => (
                  <MenuItem key={id} id={id} className="menu-item">
                    {label}
                  </MenuItem>
                ))}
              </MenuSection>
            );
          })}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
