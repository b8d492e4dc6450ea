/** A link from a page back to its list. */

import { Link } from '../router.tsx';
import { Icon } from '../ui/icons.tsx';

export function BackLink({ to, children }: { to: string; children: string }) {
  return (
    <nav aria-label="Back">
      <Link to={to} className="people-back">
        <Icon name="back" />
        {children}
      </Link>
    </nav>
  );
}
