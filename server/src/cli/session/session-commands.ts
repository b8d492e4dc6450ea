/** The commands about logins and sessions, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const sessionCommands: readonly ListedCommand[] = [
  {
    name: 'session ls',
    about: 'List the active sessions',
    load: async () => (await import('./ls.ts')).listSessions,
  },
  {
    name: 'session show',
    about: 'Show a session with its refreshes',
    load: async () => (await import('./show.ts')).showSession,
  },
  {
    name: 'session revoke',
    about: 'Revoke sessions at once',
    load: async () => (await import('./revoke.ts')).revokeSession,
  },
];
