/** Ending sessions: one's own, and for administrators anybody's. */

import type { Builder } from '../builder.ts';
import { change } from '../run-mutation.ts';

export function defineSessionMutations(builder: Builder): void {
  const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
    fields: (t) => ({ id: t.id({ required: true }) }),
  });
  const RevokeSessionsInput = builder.inputType('RevokeSessionsInput', {
    fields: (t) => ({
      userId: t.id({ description: "Whose sessions; without it, one's own. Of others for administrators." }),
      keepCurrent: t.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether the session of this request goes on.',
      }),
    }),
  });

  const RevokeSessionPayload = builder
    .objectRef<{ readonly revokedSessionId: string }>('RevokeSessionPayload')
    .implement({ fields: (t) => ({ revokedSessionId: t.exposeID('revokedSessionId') }) });
  const RevokeSessionsPayload = builder
    .objectRef<{ readonly endedSessions: number }>('RevokeSessionsPayload')
    .implement({
      fields: (t) => ({
        endedSessions: t.exposeInt('endedSessions', { description: 'How many sessions were ended.' }),
      }),
    });

  builder.mutationFields((t) => ({
    revokeSession: t.field({
      type: RevokeSessionPayload,
      nullable: true,
      description:
        "Ends a session: its refresh token is useless at once. NOT_FOUND if it has ended already, and if it is somebody else's and the viewer is no administrator.",
      args: { input: t.arg({ type: RevokeSessionInput, required: true }) },
      resolve: (_, { input: { id } }, context) =>
        change(
          context,
          ({ sessions }, caller) => sessions.revoke(caller, id),
          () => ({ revokedSessionId: id }),
        ),
    }),
    revokeSessions: t.field({
      type: RevokeSessionsPayload,
      nullable: true,
      description: 'Ends all sessions of a user, or all others than the one of this request.',
      args: { input: t.arg({ type: RevokeSessionsInput, required: true }) },
      resolve: (_, { input }, context) =>
        change(
          context,
          ({ sessions }, caller) => sessions.revokeAll(caller, input),
          (endedSessions) => ({ endedSessions }),
        ),
    }),
  }));
}
