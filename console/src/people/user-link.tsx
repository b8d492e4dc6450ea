/** The name of a user, as a link to the user's page. */

import { Link } from '../router.tsx';
import { Name } from '../ui/text.tsx';

interface UserLinkProps {
  readonly user: { readonly id: string; readonly username: string };
}

export function UserLink({ user: { id, username } }: UserLinkProps) {
  return (
    <Link to={`/users/${id}`}>
      <Name>{username}</Name>
    </Link>
  );
}
