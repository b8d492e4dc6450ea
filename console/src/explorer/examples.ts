/** Example queries, mutations and subscriptions. Each runs without changes on the viewer's data. */

import type { Example } from './example.ts';

export const examples: readonly Example[] = [
  {
    id: 'who-am-i',
    label: 'Current user',
    group: 'Read',
    document: /* GraphQL */ `
      query WhoAmI {
        viewer {
          user {
            username
            isAdministrator
            groups {
              items {
                name
              }
            }
          }
          session {
            id
            createdAt
          }
        }
      }
    `,
  },
  {
    id: 'tree',
    label: 'Tree with three levels',
    group: 'Read',
    document: /* GraphQL */ `
      query Tree {
        folder {
          name
          folders(first: 20) {
            items {
              name
              folders(first: 20) {
                items {
                  name
                  folders(first: 20) {
                    totalCount
                  }
                }
              }
            }
          }
        }
      }
    `,
  },
  {
    id: 'search',
    label: 'Search',
    group: 'Read',
    document: /* GraphQL */ `
      query Search($text: String!) {
        search(text: $text, first: 20) {
          totalCount
          items {
            id
            path
            title
            accessLevel
          }
        }
      }
    `,
    variables: () => ({ text: 'floor' }),
  },
  {
    id: 'children',
    label: 'Page of subfolders',
    group: 'Read',
    document: /* GraphQL */ `
      query Children($id: ID!, $first: Int!, $after: String) {
        folder(id: $id) {
          path
          folders(first: $first, after: $after, orderBy: { field: NAME }) {
            totalCount
            items {
              id
              name
              updatedAt
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    variables: ({ rootId }) => ({ id: rootId, first: 10, after: null }),
  },
  {
    id: 'access',
    label: 'Access to a folder',
    group: 'Read',
    document: /* GraphQL */ `
      query WhoMaySeeThis($folderId: ID!, $userId: ID!) {
        folder(id: $folderId) {
          path
          accessLevel
          access(inherited: true, first: 20) {
            items {
              level
              user {
                username
              }
              group {
                name
              }
              folder {
                path
              }
            }
          }
        }
        explainAccess(userId: $userId, folderId: $folderId) {
          level
          reason
        }
      }
    `,
    variables: ({ folderId, rootId, userId }) => ({ folderId: folderId || rootId, userId }),
  },
  {
    id: 'create',
    label: 'Create a folder',
    group: 'Change',
    document: /* GraphQL */ `
      mutation CreateFolder($input: CreateFolderInput!) {
        createFolder(input: $input) {
          folder {
            id
            path
            version
          }
          cursor
        }
      }
    `,
    variables: ({ rootId }) => ({ input: { parentId: rootId, name: 'Created in the explorer' } }),
  },
  {
    id: 'rename',
    label: 'Rename a folder',
    group: 'Change',
    document: /* GraphQL */ `
      mutation RenameFolder($input: UpdateFolderInput!) {
        updateFolder(input: $input) {
          folder {
            path
            version
          }
        }
      }
    `,
    variables: ({ folderId }) => ({ input: { id: folderId, name: 'Another name' } }),
  },
  {
    id: 'move',
    label: 'Move a folder (dry run)',
    group: 'Change',
    document: /* GraphQL */ `
      mutation MoveFolder($input: MoveFolderInput!) {
        moveFolder(input: $input) {
          folderCount
          folder {
            path
          }
        }
      }
    `,
    variables: ({ folderId, otherFolderId }) => ({
      input: { id: folderId, parentId: otherFolderId, dryRun: true },
    }),
  },
  {
    id: 'changes',
    label: 'Follow changes',
    group: 'Follow',
    document: /* GraphQL */ `
      subscription FollowChanges($under: ID, $after: String) {
        folderChanges(under: $under, after: $after) {
          kind
          at
          by {
            username
          }
          folder {
            id
            path
          }
          cursor
        }
      }
    `,
    variables: () => ({ under: null, after: null }),
  },
  {
    id: 'journal',
    label: 'Journal',
    group: 'Administrators',
    forAdministrators: true,
    document: /* GraphQL */ `
      query Journal($filter: JournalFilter) {
        journal(first: 20, filter: $filter) {
          totalCount
          items {
            number
            at
            kind
            by {
              username
            }
            folder {
              path
            }
            before
            after
          }
        }
      }
    `,
    variables: () => ({ filter: { kinds: ['CREATE_FOLDER', 'GRANT_ACCESS'] } }),
  },
  {
    id: 'follow-journal',
    label: 'Follow the journal',
    group: 'Administrators',
    forAdministrators: true,
    document: /* GraphQL */ `
      subscription FollowJournal {
        journal {
          number
          at
          kind
          by {
            username
          }
          before
          after
        }
      }
    `,
  },
  {
    id: 'sessions',
    label: 'Sessions',
    group: 'Administrators',
    forAdministrators: true,
    document: /* GraphQL */ `
      query Sessions {
        sessions(first: 20) {
          totalCount
          items {
            id
            user {
              username
            }
            createdAt
          }
        }
      }
    `,
  },
  {
    id: 'server',
    label: 'Server status',
    group: 'Administrators',
    forAdministrators: true,
    document: /* GraphQL */ `
      query Server {
        server {
          version
          startedAt
          database {
            kind
            schemaVersion
          }
          health {
            name
            isOk
            detail
          }
          activity(minutes: 5) {
            liveSessions
            sockets
            minutes {
              at
              requests
              logins
            }
          }
        }
      }
    `,
  },
];
