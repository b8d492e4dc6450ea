/** The graph's type Activity: what this node does and has done lately. */

import { mostMinutes, type ActivityMinute } from '../../activity.ts';
import { Refusal } from '../../refusal.ts';
import { countSessions } from '../../sessions/session-list.ts';
import type { Builder } from '../builder.ts';

/** For so many of the last minutes. */
export interface AskedActivity {
  readonly minutes: number;
}

export function defineActivity(builder: Builder) {
  const Minute = builder.objectRef<ActivityMinute>('ActivityMinute').implement({
    fields: (t) => ({
      at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
      requests: t.exposeInt('requests', { description: 'HTTP requests that came.' }),
      errors: t.exposeInt('errors', {
        description: 'Requests that were answered with a status of 500 and above.',
      }),
      logins: t.exposeInt('logins'),
      failedLogins: t.exposeInt('failedLogins', {
        description: 'With a wrong name or password, or after too many of them.',
      }),
      refreshes: t.exposeInt('refreshes'),
    }),
  });

  return builder.objectRef<AskedActivity>('Activity').implement({
    description: 'What a node does and has done.',
    fields: (t) => ({
      minutes: t.field({
        type: [Minute],
        description: 'One after the other; the last has begun and is not over.',
        resolve: ({ minutes }, _, { server, budget }, info) =>
          budget.spend(server.activity.lately(minutes), info),
      }),
      sockets: t.int({
        description: 'WebSockets and event streams that are open now.',
        resolve: (_, __, { server }) => server.activity.sockets,
      }),
      subscriptions: t.int({
        description: 'Subscriptions that are open now.',
        resolve: (_, __, { server }) => server.activity.subscriptions,
      }),
      liveSessions: t.int({
        description: 'Sessions that are not over, of the whole server.',
        resolve: (_, __, { reader, clock }) => countSessions(reader, clock.now()),
      }),
    }),
  });
}

export function requireMinutes(minutes: number): number {
  if (minutes >= 1 && minutes <= mostMinutes) return minutes;
  throw new Refusal('BAD_INPUT', `\`minutes\` is 1 to ${mostMinutes}: no more are remembered.`);
}
