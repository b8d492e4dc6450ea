/** Links to the screens that the viewer can open: at the side, or at the bottom of a small screen. */

import { useEffect, useRef } from 'react';
import { Link } from '../router.tsx';
import { screens, type Screen } from '../screens.tsx';
import { useViewer } from '../session/session.tsx';
import { Icon } from '../ui/icons.tsx';

const groups: readonly { readonly id: Screen['group']; readonly label: string }[] = [
  { id: 'tree', label: 'Tree' },
  { id: 'people', label: 'People' },
  { id: 'server', label: 'Server' },
  { id: 'developers', label: 'Developers' },
];

export function Navigation({ current }: { current: string | undefined }) {
  const { isAdministrator } = useViewer();
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const show = () => {
      const link = bar.current?.querySelector('[aria-current]');
      if (bar.current && link) center(bar.current, link);
    };
    show();
    addEventListener('resize', show);
    return () => removeEventListener('resize', show);
  }, [current]);
  const visibleScreens = screens.filter(({ isForAdministrators }) => isAdministrator || !isForAdministrators);
  return (
    <nav ref={bar} className="navigation" aria-label="Screens">
      {groups.map(({ id, label }) => {
        const ofGroup = visibleScreens.filter(({ group }) => group === id);
        if (ofGroup.length === 0) return null;
        return (
          <div key={id} className="navigation-group" role="group" aria-label={label}>
            <p className="navigation-label" aria-hidden="true">
              {label}
            </p>
            {ofGroup.map(({ segment, label: name, icon }) => (
              <Link
                key={segment}
                to={`/${segment}`}
                className="navigation-link"
                aria-current={segment === current ? 'page' : undefined}
              >
                <Icon name={icon} />
                <span>{name}</span>
              </Link>
            ))}
          </div>
        );
      })}
    </nav>
  );
}

/** Scrolls the bar of a small screen to the link. `scrollIntoView` would also move the start of the next Tab key. */
function center(bar: HTMLElement, link: Element): void {
  const [outer, inner] = [bar.getBoundingClientRect(), link.getBoundingClientRect()];
  bar.scrollBy(
    inner.left + inner.width / 2 - outer.left - outer.width / 2,
    inner.top + inner.height / 2 - outer.top - outer.height / 2,
  );
}
