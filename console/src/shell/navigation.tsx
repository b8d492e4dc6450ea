/** Links to the screens that the viewer can open: at the side, or at the bottom of a small screen with a menu for the rest. */

import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { useEffect, useRef } from 'react';
import { Link, navigate } from '../router.tsx';
import { screens, type Screen } from '../screens.tsx';
import { useViewer } from '../session/session.tsx';
import { Icon } from '../ui/icons.tsx';

const groups: readonly { readonly id: Screen['group']; readonly label: string }[] = [
  { id: 'tree', label: 'Tree' },
  { id: 'people', label: 'People' },
  { id: 'server', label: 'Server' },
  { id: 'developers', label: 'Developers' },
];

/** The bar of a small screen has room for five entries. */
const maxInBar = 5;

export function Navigation({ current }: { current: string | undefined }) {
  const { isAdministrator } = useViewer();
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const link = bar.current?.querySelector('.navigation-link[aria-current]');
    if (bar.current && link) center(bar.current, link);
  }, [current]);
  const visible = screens.filter(
    ({ group, isForAdministrators }) => group !== 'none' && (isAdministrator || !isForAdministrators),
  );
  const rest = visible.length > maxInBar ? visible.slice(maxInBar - 1) : [];
  return (
    <nav ref={bar} className="navigation" aria-label="Screens">
      {groups.map(({ id, label }) => {
        const ofGroup = visible.filter(({ group }) => group === id);
        if (ofGroup.length === 0) return null;
        return (
          <div key={id} className="navigation-group" role="group" aria-label={label}>
            <p className="navigation-label" aria-hidden="true">
              {label}
            </p>
            {ofGroup.map((screen) => (
              <Link
                key={screen.segment}
                to={`/${screen.segment}`}
                className={rest.includes(screen) ? 'navigation-link wide-only' : 'navigation-link'}
                aria-current={screen.segment === current ? 'page' : undefined}
              >
                <Icon name={screen.icon} />
                <span>{screen.label}</span>
              </Link>
            ))}
          </div>
        );
      })}
      {rest.length > 0 && <MoreMenu screens={rest} current={current} />}
    </nav>
  );
}

interface MoreMenuProps {
  readonly screens: readonly Screen[];
  readonly current: string | undefined;
}

/** The screens for which a small screen has no room. */
function MoreMenu({ screens: listed, current }: MoreMenuProps) {
  const isCurrent = listed.some(({ segment }) => segment === current);
  return (
    <MenuTrigger>
      <AriaButton className="navigation-link navigation-more" {...(isCurrent && { 'aria-current': 'true' })}>
        <Icon name="more" className="dots" />
        <span>More</span>
      </AriaButton>
      <Popover className="popover" placement="top end">
        <Menu
          className="menu"
          aria-label="More screens"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={current === undefined ? [] : [current]}
          onAction={(segment) => navigate(`/${segment}`)}
        >
          {groups.map(({ id, label }) => {
            const ofGroup = listed.filter(({ group }) => group === id);
            if (ofGroup.length === 0) return null;
            return (
              <MenuSection key={id}>
                <Header className="menu-header">{label}</Header>
                {ofGroup.map(({ segment, label: name, icon }) => (
                  <MenuItem key={segment} id={segment} textValue={name} className="menu-item">
                    <Icon name={icon} /> {name}
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

/** Scrolls the bar to the link in a low window. `scrollIntoView` would also move the position where the next Tab key starts. */
function center(bar: HTMLElement, link: Element): void {
  const [outer, inner] = [bar.getBoundingClientRect(), link.getBoundingClientRect()];
  bar.scrollBy(0, inner.top + inner.height / 2 - outer.top - outer.height / 2);
}
