/** The account menu: the viewer's name, the theme, and signing out. */

import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from 'react-aria-components';
import { navigate } from '../router.tsx';
import { useViewer } from '../session/session.tsx';
import { currentView } from '../session/view-as.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { setTheme, useTheme, type Theme } from './theme.tsx';
import { formatName, Name } from '../ui/text.tsx';

const themes: readonly { readonly id: Theme; readonly label: string; readonly icon: IconName }[] = [
  { id: 'system', label: 'System theme', icon: 'monitor' },
  { id: 'light', label: 'Light theme', icon: 'sun' },
  { id: 'dark', label: 'Dark theme', icon: 'moon' },
];

export function AccountMenu({ onSignOut }: { onSignOut: () => void }) {
  const { username } = useViewer();
  const theme = useTheme();
  return (
    <MenuTrigger>
      <AriaButton className="button quiet account" aria-label={formatName(`Account of ${username}`)}>
        <Icon name="user" />
        <span className="account-name">
          <Name>{username}</Name>
        </span>
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <Menu
          className="menu"
          onAction={(id) => {
            if (id === 'account') navigate('/account');
            if (id === 'signOut') onSignOut();
          }}
        >
          {!currentView && (
            <MenuItem id="account" className="menu-item">
              <Icon name="user" /> Your account
            </MenuItem>
          )}
          {!currentView && <Separator className="separator" />}
          <MenuSection
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[theme]}
            onSelectionChange={(keys) => setTheme([...keys][0] as Theme)}
          >
            <Header className="menu-header">Theme</Header>
            {themes.map(({ id, label, icon }) => (
              <MenuItem key={id} id={id} className="menu-item">
                <Icon name={icon} /> {label}
              </MenuItem>
            ))}
          </MenuSection>
          <Separator className="separator" />
          <MenuItem id="signOut" className="menu-item">
            <Icon name="signOut" /> Sign out
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
