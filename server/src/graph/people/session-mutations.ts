/** Ending sessions: one's own, and for administrators anybody's. */

import { requireUser } from '../../accounts/users.ts';
import { Refusal } from '../../refusal.ts';
import { revokeById, revokeSessionsOf } from '../../sessions/revocation.ts';
import { readLivingSession } from '../../sessions/session-list.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { aNumber, change, changeBy, noResult, requireAdministrator } from '../change.ts';

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
      resolve: async (_, { input: { id } }, context) => {
        await revokeOne(context, id);
        return { revokedSessionId: id };
      },
    }),
    revokeSessions: t.field({
      type: RevokeSessionsPayload,
      nullable: true,
      description: 'Ends all sessions of a user, or all others than the one of this request.',
      args: { input: t.arg({ type: RevokeSessionsInput, required: true }) },
      resolve: async (_, { input }, context) => ({ endedSessions: await revokeAll(context, input) }),
    }),
  }));
}

async function revokeOne(context: GraphContext, id: string): Promise<void> {
  const now = context.clock.now();
  await change(context, noResult, async (transaction, access) => {
    const session = await readLivingSession(transaction, id, now);
    if (!session || (session.userId !== access.userId && !access.isAdministrator)) {
      throw new Refusal('NOT_FOUND', 'There is no session with this id, or it has ended already.');
    }
    await revokeById(transaction, id, { because: 'revoked', ...changeBy(context) });
  });
}

async function revokeAll(
  context: GraphContext,
  given: { userId?: string | null | undefined; keepCurrent: boolean },
): Promise<number> {
  const { viewer } = context;
  const userId = given.userId ?? viewer.userId;
  if (userId !== viewer.userId) requireAdministrator(context.access);
  return change(context, aNumber, async (transaction, access) => {
    if (userId !== access.userId) requireAdministrator(access);
    await requireUser(transaction, userId);
    const exceptId = given.keepCurrent ? viewer.sessionId : undefined;
    const because = { because: 'revoked', ...changeBy(context) } as const;
    return revokeSessionsOf(transaction, { userId, exceptId }, because);
  });
}
