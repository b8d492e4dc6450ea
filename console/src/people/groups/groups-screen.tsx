/** The list of groups, or the page of one group. */

import { useLocation } from '../../router.tsx';
import { GroupList } from './group-list.tsx';
import { GroupPage } from './group-page.tsx';
import { usePeopleUpdates } from '../people-data.ts';
import '../people.css';

export function GroupsScreen() {
  const id = useLocation().parts[1];
  usePeopleUpdates();
  return id === undefined ? <GroupList /> : <GroupPage key={id} id={id} />;
}
