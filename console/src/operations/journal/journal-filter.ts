/** The filter of the journal, and its forms in the address, in GraphQL and on the command line. */

import type { Call } from '../../actions/action.ts';
import type { JournalKind } from '../../ui/journal-sentence.ts';

export interface JournalFilter {
  readonly byId?: string;
  readonly userId?: string;
  readonly groupId?: string;
  readonly folderId?: string;
  readonly kinds?: readonly JournalKind[];
  readonly from?: string;
  readonly until?: string;
}

interface KindGroup {
  readonly label: string;
  readonly kinds: readonly { readonly id: JournalKind; readonly label: string }[];
}

export const kindGroups: readonly KindGroup[] = [
  {
    label: 'Folders',
    kinds: [
      { id: 'CREATE_FOLDER', label: 'Folder created' },
      { id: 'UPDATE_FOLDER', label: 'Folder changed' },
      { id: 'MOVE_FOLDER', label: 'Folder moved' },
      { id: 'DELETE_FOLDER', label: 'Folder deleted' },
      { id: 'RESTORE_FOLDER', label: 'Folder restored' },
      { id: 'DUPLICATE_FOLDER', label: 'Folder duplicated' },
      { id: 'IMPORT_FOLDERS', label: 'Folders imported' },
      { id: 'PURGE_FOLDER', label: 'Folder deleted permanently' },
    ],
  },
  {
    label: 'Access',
    kinds: [
      { id: 'GRANT_ACCESS', label: 'Access granted' },
      { id: 'REVOKE_ACCESS', label: 'Access removed' },
    ],
  },
  {
    label: 'Users',
    kinds: [
      { id: 'CREATE_USER', label: 'User created' },
      { id: 'UPDATE_USER', label: 'User changed' },
      { id: 'CHANGE_PASSWORD', label: 'Password changed' },
      { id: 'ENROL_SECOND_FACTOR', label: 'Second factor added' },
      { id: 'REMOVE_SECOND_FACTOR', label: 'Second factor removed' },
      { id: 'RESET_SECOND_FACTOR', label: 'Second factor reset' },
      { id: 'CREATE_RECOVERY_CODES', label: 'Recovery codes created' },
      { id: 'USE_RECOVERY_CODE', label: 'Recovery code used' },
      { id: 'DELETE_USER', label: 'User deleted' },
      { id: 'END_SESSION', label: 'Session ended' },
      { id: 'VIEW_AS', label: 'Viewed as user' },
      { id: 'CREATE_API_KEY', label: 'API key created' },
      { id: 'REVOKE_API_KEY', label: 'API key revoked' },
      { id: 'LINK_IDENTITY', label: 'Single sign-on linked' },
      { id: 'UNLINK_IDENTITY', label: 'Single sign-on unlinked' },
    ],
  },
  {
    label: 'Groups',
    kinds: [
      { id: 'CREATE_GROUP', label: 'Group created' },
      { id: 'UPDATE_GROUP', label: 'Group renamed' },
      { id: 'DELETE_GROUP', label: 'Group deleted' },
      { id: 'ADD_TO_GROUP', label: 'Added to a group' },
      { id: 'REMOVE_FROM_GROUP', label: 'Removed from a group' },
    ],
  },
  {
    label: 'Signing keys',
    kinds: [
      { id: 'ROTATE_KEY', label: 'Key created' },
      { id: 'RETIRE_KEY', label: 'Key retired' },
    ],
  },
];

const allKinds = kindGroups.flatMap(({ kinds }) => kinds.map(({ id }) => id));

/** Ignores values in the address that are not valid. */
export function readFilter(query: URLSearchParams): JournalFilter {
  const kindNames = (query.get('kind') ?? '').split(',');
  const values = {
    byId: query.get('by'),
    userId: query.get('user'),
    groupId: query.get('group'),
    folderId: query.get('folder'),
    kinds: allKinds.filter((kind) => kindNames.includes(formatKind(kind))),
    from: timeIn(query.get('from')),
    until: timeIn(query.get('until')),
  };
  const isSet = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value));
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isSet(value)));
}

/** Returns the argument of `setQuery`. Missing fields become null, which removes them from the address. */
export function toQuery(filter: JournalFilter): Record<string, string | null> {
  return {
    by: filter.byId ?? null,
    user: filter.userId ?? null,
    group: filter.groupId ?? null,
    folder: filter.folderId ?? null,
    kind: filter.kinds?.map(formatKind).join(',') ?? null,
    from: filter.from ?? null,
    until: filter.until ?? null,
  };
}

/** Returns the arguments of `espalier` that print the same entries. */
export function createJournalArguments({ filter = {} }: { filter?: JournalFilter }): string[] {
  const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}`, value]);
  const byId = (id: string | undefined) => id && `id:${id}`;
  return [
    'journal',
    'ls',
    ...flag('by', byId(filter.byId)),
    ...flag('user', byId(filter.userId)),
    ...flag('group', byId(filter.groupId)),
    ...flag('folder', byId(filter.folderId)),
    ...(filter.kinds ?? []).flatMap((kind) => flag('kind', formatKind(kind))),
    ...flag('from', filter.from),
    ...flag('until', filter.until),
  ];
}

/** Returns the query for "copy as". */
export function createJournalCall(filter: JournalFilter): Call {
  const variables = { filter, first: 50 };
  const action: Call<typeof variables>['action'] = {
    label: 'Read the journal',
    document: /* GraphQL */ `
      query ($filter: JournalFilter, $first: Int, $after: String) {
        journal(filter: $filter, first: $first, after: $after) {
          items {
            number
            at
            kind
            by {
              username
            }
            path
            formerPath
            user {
              username
            }
            group {
              name
            }
            before
            after
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    cliArguments: createJournalArguments,
  };
  return { action, variables };
}

/** Formats a kind for the command line, for example `move-folder`. */
function formatKind(kind: JournalKind): string {
  return kind.toLowerCase().replaceAll('_', '-');
}

function timeIn(text: string | null): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
