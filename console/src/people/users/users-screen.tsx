/** The list of users, or the page of one user. */

import { useLocation } from '../../router.tsx';
import { usePeopleUpdates } from '../people-data.ts';
import { UserList } from './user-list.tsx';
import { UserPage } from './user-page.tsx';
import '../people.css';

export function UsersScreen() {
  const id = useLocation().parts[1];
  usePeopleUpdates();
  return id === undefined ? <UserList /> : <UserPage key={id} id={id} />;
}
