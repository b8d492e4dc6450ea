/** One client cannot delay the logins of others by keeping the server busy with password hashes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkPassword } from '../server/src/accounts/accounts.ts';
import { createUser } from '../server/src/accounts/change-users.ts';
import { createPasswords, type Passwords } from '../server/src/accounts/passwords.ts';
import { readUserByName } from '../server/src/accounts/users.ts';
import { readSettings } from '../server/src/config.ts';
import type { Database } from '../server/src/database/database.ts';
import { openDatabase } from '../server/src/database/open-database.ts';
import { prepareInstallation } from '../server/src/first-start.ts';
import { changeInTurn } from '../server/src/journal/journal.ts';
import type { Places } from '../server/src/places.ts';
import type { Refusal } from '../server/src/refusal.ts';
import type { AccessTokens } from '../server/src/sessions/access-token.ts';
import type { EndedSessions } from '../server/src/sessions/ended-sessions.ts';
import { createKeySeal } from '../server/src/sessions/key-seal.ts';
import { createLoginThrottle, type LoginThrottle } from '../server/src/sessions/login-throttle.ts';
import { createSessions, type Sessions } from '../server/src/sessions/sessions.ts';
import { databaseKinds, type DatabaseKind } from './databases.ts';
import { eventually } from './eventually.ts';
import { disableUser } from './stored-rows.ts';
import { administrator, leastCost, TestClock } from './testbed.ts';

const attacker = '192.0.2.1';
const elsewhere = '198.51.100.7';

/** Holds every hash until the test lets it run. One hash arrives at a time. */
class Gate implements Places {
  waiting = 0;
  taken = 0;
  #open: (() => void) | undefined;

  async use<T>(work: () => Promise<T>): Promise<T> {
    this.waiting++;
    await new Promise<void>((resolve) => (this.#open = resolve));
    this.waiting--;
    this.taken++;
    try {
      return await work();
    } finally {
      this.taken--;
    }
  }

  async letOneThrough(): Promise<void> {
    await eventually(() => this.#open !== undefined, 'a hash is due');
    const open = this.#open!;
    this.#open = undefined;
    open();
  }
}

class Bed {
  /** The requests in the order of their answers. */
  readonly answered: string[] = [];
  readonly #database: Database;
  readonly #passwords: Passwords;
  readonly #throttle: LoginThrottle;
  readonly #sessions: Sessions;
  readonly #gate: Gate;
  readonly #adminId: string;

  static async use(kind: DatabaseKind, work: (bed: Bed) => Promise<void>): Promise<void> {
    const stored = await kind.createForServer();
    const clock = new TestClock();
    const { settings } = readSettings({
      environment: {
        ESPALIER_DATABASE_URL: stored.url,
        ESPALIER_ADMIN_USERNAME: administrator.username,
        ESPALIER_ADMIN_PASSWORD: administrator.password,
      },
    });
    const database = await openDatabase(stored.url, clock);
    try {
      const passwords = createPasswords({ cost: leastCost });
      await prepareInstallation({
        database,
        passwords,
        seal: createKeySeal(undefined),
        now: clock.now(),
        settings,
      });
      const admin = await readUserByName(database, administrator.username);
      const passwordHash = await passwords.hash('walnut cellar', { key: 'preparation' });
      const barred = { username: 'barred', passwordHash, isAdministrator: false };
      await changeInTurn(database, (transaction) =>
        createUser(transaction, barred, { byUserId: null, now: clock.now() }),
      );
      await disableUser(stored.url, 'barred', clock.now());
      await work(new Bed(database, clock, admin!.id));
    } finally {
      await database.close();
      await stored.remove();
    }
  }

  private constructor(database: Database, clock: TestClock, adminId: string) {
    this.#database = database;
    this.#adminId = adminId;
    this.#gate = new Gate();
    this.#passwords = createPasswords({ atOnce: 1, places: this.#gate, cost: leastCost });
    this.#throttle = createLoginThrottle({ database, clock, installation: 'fairness', isOn: true });
    this.#sessions = createSessions({
      database,
      clock,
      passwords: this.#passwords,
      throttle: this.#throttle,
      // A login only issues an auth token.
      accessTokens: { issue: () => 'auth token' } as unknown as AccessTokens,
      ended: {} as EndedSessions,
      onTheft: () => undefined,
      settings: {
        accessTokenSeconds: 600,
        refreshTokenSeconds: 600,
        reuseToleranceSeconds: 60,
        refreshRetrySeconds: 0,
        maxSessionsPerUser: 0,
      },
    });
  }

  /** Returns when the login waits for its hash. */
  async logIn(name: string, address: string, username: string, password = 'walnut cellar'): Promise<void> {
    const client = { address, agent: null };
    await this.#queue(name, this.#sessions.logIn({ username, password }, client));
  }

  /** What `changePassword` does with a wrong old password. */
  async changePassword(name: string, sessionId: string): Promise<void> {
    const given = { userId: this.#adminId, sessionId, password: 'walnut cellar' };
    const check = () => checkPassword(this.#database, this.#passwords, given);
    await this.#queue(name, this.#throttle.attempt({ sessionId }, check));
  }

  async #queue(name: string, work: Promise<unknown>): Promise<void> {
    const before = this.#passwords.hashing.waiting;
    const note = (error?: unknown) => {
      assert.ok(error === undefined || (error as Refusal).code === 'INVALID_CREDENTIALS', String(error));
      this.answered.push(name);
    };
    work.then(() => note(), note);
    await eventually(() => this.#passwords.hashing.waiting === before + 1, `${name} waits for its hash`);
  }

  /** Lets so many hashes run, one after the other. */
  async serve(count: number): Promise<void> {
    for (let served = 0; served < count; served++) {
      const before = this.answered.length;
      await this.#gate.letOneThrough();
      await eventually(() => this.answered.length > before, 'a request is answered');
    }
  }
}

for (const kind of databaseKinds) {
  describe(`waiting password hashes on ${kind.name}`, () => {
    test('a login is served next, not after 64 wrong logins from another address', () =>
      Bed.use(kind, async (bed) => {
        for (let number = 0; number < 64; number++) await bed.logIn('wrong', attacker, `name ${number}`);
        await bed.logIn('right', elsewhere, administrator.username, administrator.password);
        await bed.serve(2);
        assert.deepEqual(bed.answered, ['wrong', 'right']);
        await bed.serve(63);
      }));

    test('a login is served next, not after the password changes of one user in 8 sessions', () =>
      Bed.use(kind, async (bed) => {
        for (let number = 0; number < 64; number++) {
          await bed.changePassword('change', `session ${number % 8}`);
        }
        await bed.logIn('right', elsewhere, administrator.username, administrator.password);
        await bed.serve(2);
        assert.deepEqual(bed.answered, ['change', 'right']);
        await bed.serve(63);
      }));

    test('a login to one account is served next, not after 8 logins to another account from the same address', () =>
      Bed.use(kind, async (bed) => {
        for (let number = 0; number < 8; number++) await bed.logIn('wrong', attacker, 'anna');
        await bed.logIn('right', attacker, administrator.username, administrator.password);
        await bed.serve(2);
        assert.deepEqual(bed.answered, ['wrong', 'right']);
        await bed.serve(7);
      }));

    test('unknown users, wrong passwords and disabled users wait equally long', () =>
      Bed.use(kind, async (bed) => {
        await bed.logIn('first', attacker, 'anna');
        for (const round of [1, 2]) {
          await bed.logIn(`unknown ${round}`, elsewhere, 'nobody');
          await bed.logIn(`wrong ${round}`, elsewhere, administrator.username);
          await bed.logIn(`disabled ${round}`, elsewhere, 'barred');
        }
        await bed.serve(7);
        const rounds = [1, 2].flatMap((round) => [`unknown ${round}`, `wrong ${round}`, `disabled ${round}`]);
        assert.deepEqual(bed.answered, ['first', ...rounds]);
      }));
  });
}
