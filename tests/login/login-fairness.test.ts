/** One client cannot delay the logins of others by keeping the server busy with password hashes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkPassword } from '../../server/src/accounts/passwords.ts';
import { createUser, readUserByName } from '../../server/src/accounts/users.ts';
import { Passwords } from '../../server/src/accounts/passwords.ts';
import { readSettings } from '../../server/src/config/config.ts';
import type { Database } from '../../server/src/database/database.ts';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { prepareInstallation } from '../../server/src/startup/installation.ts';
import { runChange } from '../../server/src/journal/journal.ts';
import type { Semaphore } from '../../server/src/concurrency/semaphore.ts';
import type { Refusal } from '../../server/src/refusal.ts';
import type { ApiKeyVerification } from '../../server/src/sessions/api-key-verification.ts';
import type { AuthTokens } from '../../server/src/sessions/auth-token.ts';
import type { RevocationCache } from '../../server/src/sessions/revocation.ts';
import type { ViewTokens } from '../../server/src/sessions/view-as.ts';
import { KeyEncryption } from '../../server/src/sessions/signing-keys.ts';
import { LoginThrottle } from '../../server/src/sessions/login-throttle.ts';
import type { SecondStep } from '../../server/src/sessions/second-factors/second-step.ts';
import { Sessions } from '../../server/src/sessions/sessions.ts';
import { SignIns } from '../../server/src/sessions/sign-ins.ts';
import { databaseKinds, type DatabaseKind } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { disableUser } from '../support/stored-rows.ts';
import { administrator, minPasswordCost, TestClock } from '../support/testbed.ts';

const attackerAddress = '192.0.2.1';
const otherAddress = '198.51.100.7';

/** Holds every hash until the test lets it run. Only one hash waits here at a time. */
class Gate implements Semaphore {
  waiting = 0;
  running = 0;
  #open: (() => void) | undefined;

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.waiting++;
    await new Promise<void>((resolve) => (this.#open = resolve));
    this.waiting--;
    this.running++;
    try {
      return await work();
    } finally {
      this.running--;
    }
  }

  async letOneThrough(): Promise<void> {
    await eventually(() => this.#open !== undefined, 'a hash is next');
    const open = this.#open!;
    this.#open = undefined;
    open();
  }
}

class Fixture {
  /** The requests in the order of their responses. */
  readonly answeredNames: string[] = [];
  readonly #database: Database;
  readonly #passwords: Passwords;
  readonly #throttle: LoginThrottle;
  readonly #sessions: Sessions;
  readonly #gate: Gate;
  readonly #adminId: string;

  static async use(kind: DatabaseKind, work: (testbed: Fixture) => Promise<void>): Promise<void> {
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
      const passwords = new Passwords({ cost: minPasswordCost });
      await prepareInstallation({
        database,
        passwords,
        encryption: new KeyEncryption(undefined),
        now: clock.now(),
        settings,
      });
      const admin = await readUserByName(database, administrator.username);
      const passwordHash = await passwords.hash('walnut cellar', { key: 'preparation' });
      const barred = { username: 'barred', passwordHash, isAdministrator: false };
      await runChange(database, (transaction) =>
        createUser(transaction, barred, { byUserId: null, now: clock.now() }),
      );
      await disableUser(stored.url, 'barred', clock.now());
      await work(new Fixture(database, clock, admin!.id));
    } finally {
      await database.close();
      await stored.remove();
    }
  }

  private constructor(database: Database, clock: TestClock, adminId: string) {
    this.#database = database;
    this.#adminId = adminId;
    this.#gate = new Gate();
    this.#passwords = new Passwords({ maxConcurrent: 1, semaphore: this.#gate, cost: minPasswordCost });
    this.#throttle = new LoginThrottle({ database, clock, installation: 'fairness', isOn: true });
    this.#sessions = new Sessions({
      database,
      clock,
      passwords: this.#passwords,
      throttle: this.#throttle,
      signIns: new SignIns({ database, clock }),
      secondStep: { isPasswordEnough: () => true } as unknown as SecondStep,
      // A login only issues an auth token.
      authTokens: { issue: () => 'auth token' } as unknown as AuthTokens,
      revoked: {} as RevocationCache,
      viewTokens: {} as ViewTokens,
      apiKeys: {} as ApiKeyVerification,
      onTheft: () => undefined,
      settings: {
        authTokenSeconds: 600,
        refreshTokenSeconds: 600,
        reuseToleranceSeconds: 60,
        refreshRetrySeconds: 0,
        maxSessionsPerUser: 0,
        passwordLogin: 'on' as const,
        ssoIssuer: undefined,
      },
    });
  }

  /** Resolves when the login waits for its hash. */
  async logIn(name: string, address: string, username: string, password = 'walnut cellar'): Promise<void> {
    const client = { address, agent: null };
    await this.#queue(name, this.#sessions.logIn({ username, password }, client));
  }

  /** Does what `changePassword` does with a wrong old password. */
  async changePassword(name: string, sessionId: string): Promise<void> {
    const input = { userId: this.#adminId, sessionId, password: 'walnut cellar' };
    const check = () => checkPassword(this.#database, this.#passwords, input);
    await this.#queue(name, this.#throttle.attempt({ sessionId }, check));
  }

  async #queue(name: string, work: Promise<unknown>): Promise<void> {
    const before = this.#passwords.hashing.waiting;
    const note = (error?: unknown) => {
      assert.ok(error === undefined || (error as Refusal).code === 'INVALID_CREDENTIALS', String(error));
      this.answeredNames.push(name);
    };
    work.then(() => note(), note);
    await eventually(() => this.#passwords.hashing.waiting === before + 1, `${name} waits for its hash`);
  }

  /** Lets `count` hashes run, one after the other. */
  async serve(count: number): Promise<void> {
    for (let served = 0; served < count; served++) {
      const before = this.answeredNames.length;
      await this.#gate.letOneThrough();
      await eventually(() => this.answeredNames.length > before, 'a request is answered');
    }
  }
}

for (const kind of databaseKinds) {
  describe(`the queue of password hashes on ${kind.name}`, () => {
    test('serves a login before 63 waiting wrong logins from another address', () =>
      Fixture.use(kind, async (testbed) => {
        for (let number = 0; number < 64; number++)
          await testbed.logIn('wrong', attackerAddress, `name ${number}`);
        await testbed.logIn('right', otherAddress, administrator.username, administrator.password);
        await testbed.serve(2);
        assert.deepEqual(testbed.answeredNames, ['wrong', 'right']);
        await testbed.serve(63);
      }));

    test('serves a login before the waiting password changes of one user in 8 sessions', () =>
      Fixture.use(kind, async (testbed) => {
        for (let number = 0; number < 64; number++) {
          await testbed.changePassword('change', `session ${number % 8}`);
        }
        await testbed.logIn('right', otherAddress, administrator.username, administrator.password);
        await testbed.serve(2);
        assert.deepEqual(testbed.answeredNames, ['change', 'right']);
        await testbed.serve(63);
      }));

    test('serves a login to one account before waiting logins to another from the same address', () =>
      Fixture.use(kind, async (testbed) => {
        for (let number = 0; number < 8; number++) await testbed.logIn('wrong', attackerAddress, 'anna');
        await testbed.logIn('right', attackerAddress, administrator.username, administrator.password);
        await testbed.serve(2);
        assert.deepEqual(testbed.answeredNames, ['wrong', 'right']);
        await testbed.serve(7);
      }));

    test('makes unknown users, wrong passwords and disabled users wait equally long', () =>
      Fixture.use(kind, async (testbed) => {
        await testbed.logIn('first', attackerAddress, 'anna');
        for (const round of [1, 2]) {
          await testbed.logIn(`unknown ${round}`, otherAddress, 'nobody');
          await testbed.logIn(`wrong ${round}`, otherAddress, administrator.username);
          await testbed.logIn(`disabled ${round}`, otherAddress, 'barred');
        }
        await testbed.serve(7);
        const rounds = [1, 2].flatMap((round) => [`unknown ${round}`, `wrong ${round}`, `disabled ${round}`]);
        assert.deepEqual(testbed.answeredNames, ['first', ...rounds]);
      }));
  });
}
