/**
 * Lets an administrator view the tree as another user: with the rights of that user, and read only. The administrator sends a view
 * token next to the auth token. A view token is useless without an auth token of the session that started the view.
 */

import { requireUser, runAsAdministrator, type ViewerRights } from '../accounts/users.ts';
import type { Caller, Changed, ChangeRunner, ResultCodec } from '../journal/change-runner.ts';
import { detailsOf, type JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { record } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { requireSession, type SessionViewer, type View, type Viewer } from './auth-token.ts';
import { SignedTokens, type TokenServices } from './signed-token.ts';

export const viewSeconds = 900;
const viewMs = viewSeconds * 1000;

/**
 * No claim is called `sub`. Otherwise, a service that does not check the type of tokens might accept a view token as an auth
 * token of the viewed user.
 */
interface Claims {
  /** The administrator and the administrator's session. */
  readonly by: string;
  readonly sid: string;
  readonly view: string;
  readonly num: number;
}

/** The content of a view token. */
interface TokenView extends View {
  readonly byUserId: string;
  readonly sessionId: string;
}

interface ViewTokenOptions extends TokenServices {
  readonly feed: Pick<JournalFeed, 'onEntry' | 'onGap' | 'last'>;
}

export class ViewTokens {
  readonly #options: ViewTokenOptions;
  readonly #tokens: SignedTokens<Claims, TokenView>;
  /** By user id: the latest entry that ends the views of this user or by this user. */
  readonly #endedAt = new Map<string, Pick<JournalEntry, 'number' | 'at'>>();
  /** Entries up to this number were not received and may have ended views. */
  #unknownUpTo = 0;

  constructor(options: ViewTokenOptions) {
    this.#options = options;
    this.#tokens = new SignedTokens<Claims, TokenView>({
      ...options,
      type: 'view+jwt',
      maxLifetimeMs: viewMs,
      toContent: ({ by, sid, view, num }, { expiresAt }) => ({
        byUserId: by,
        sessionId: sid,
        userId: view,
        number: num,
        expiresAt,
      }),
    });
    options.feed.onEntry((entry) => this.#receive(entry));
    options.feed.onGap(() => (this.#unknownUpTo = options.feed.last));
  }

  issue({ userId, sessionId }: Pick<SessionViewer, 'userId' | 'sessionId'>, viewed: View): string {
    const claims = { by: userId, sid: sessionId, view: viewed.userId, num: viewed.number };
    return this.#tokens.issue(claims, viewed.expiresAt - this.#options.clock.now()).token;
  }

  /** Returns the viewer with the view of the token. Refuses a token of another user or session, and a token whose view has ended. */
  apply(viewer: SessionViewer, token: string): SessionViewer {
    const stored = this.#tokens.read(token);
    const isOwn = stored?.byUserId === viewer.userId && stored.sessionId === viewer.sessionId;
    if (!stored || !isOwn)
      throw new Refusal('INVALID_VIEW_TOKEN', 'The view token is not valid in this session.');
    const { userId, number, expiresAt } = stored;
    const viewerWithView = { ...viewer, view: { userId, number, expiresAt } };
    if (this.hasEnded(viewerWithView)) throw viewEnded();
    return viewerWithView;
  }

  /**
   * Whether the view has expired, the administrator has lost the role, or the viewed user was disabled or deleted. The journal
   * delivers these changes. Each read checks both users again in its own snapshot.
   */
  hasEnded({ userId, view }: Viewer): boolean {
    if (!view) return false;
    const isChanged = (id: string) => (this.#endedAt.get(id)?.number ?? 0) > view.number;
    return (
      view.expiresAt <= this.#options.clock.now() ||
      view.number <= this.#unknownUpTo ||
      isChanged(userId) ||
      isChanged(view.userId)
    );
  }

  #receive({ kind, userId, number, at, after }: JournalEntry): void {
    if (!userId || (kind !== 'UPDATE_USER' && kind !== 'DELETE_USER')) return;
    const { isDisabled, isAdministrator } = detailsOf(after);
    if (kind === 'UPDATE_USER' && isDisabled !== true && isAdministrator !== false) return;
    for (const [id, entry] of this.#endedAt) if (entry.at < at - 2 * viewMs) this.#endedAt.delete(id);
    this.#endedAt.set(userId, { number, at });
  }
}

export function viewEnded(): Refusal {
  return new Refusal('INVALID_VIEW_TOKEN', 'This view has ended. Start it again with `startViewAs`.');
}

export interface StartedView {
  readonly userId: string;
  readonly token: string;
  readonly expiresAt: number;
}

const viewCodec: ResultCodec<Omit<StartedView, 'token'>, Omit<StartedView, 'token'>> = {
  toStored: ({ userId, expiresAt }) => ({ userId, expiresAt }),
  fromStored: (stored) => stored,
};

export class Views {
  readonly #changes: ChangeRunner<ViewerRights>;
  readonly #tokens: Pick<ViewTokens, 'issue'>;

  constructor(changes: ChangeRunner<ViewerRights>, tokens: Pick<ViewTokens, 'issue'>) {
    this.#changes = changes;
    this.#tokens = tokens;
  }

  /**
   * The token is issued after the commit and never stored. A repeated request with the same idempotency key returns another
   * token of the same view, which ends at the same time.
   */
  async start(caller: Caller, { userId }: { readonly userId: string }): Promise<Changed<StartedView>> {
    requireSession(caller);
    const { result, ...made } = await runAsAdministrator(
      this.#changes,
      caller,
      viewCodec,
      async (transaction, by) => {
        const user = await requireUser(transaction, userId);
        if (user.id === caller.userId)
          throw new Refusal('CONFLICT', 'You cannot view the tree as yourself. Choose another user.');
        if (user.disabledAt !== null) {
          throw new Refusal('CONFLICT', 'This user is disabled and sees nothing. Enable the user first.');
        }
        record(transaction, { kind: 'VIEW_AS', ...by, userId: user.id, sessionId: caller.sessionId });
        return { userId: user.id, expiresAt: by.now + viewMs };
      },
    );
    const token = this.#tokens.issue(caller, { ...result, number: made.position.number });
    return { ...made, result: { ...result, token } };
  }
}
