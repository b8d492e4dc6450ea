/** The state of the server as administrators see it over the graph. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { catalog } from '../../server/src/observability/metric-catalog.ts';
import { Scrape } from '../metrics/scrape.ts';
import { migrations } from '../../server/src/database/migrations.ts';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface Info {
  readonly server: {
    readonly settings: readonly {
      name: string;
      value: string | null;
      source: string;
      givenBy: string | null;
    }[];
    readonly keys: readonly { id: string; state: string; signsFrom: string; neededUntil: string | null }[];
    readonly activity: {
      readonly minutes: readonly Record<string, number | string>[];
      readonly sockets: number;
      readonly subscriptions: number;
      readonly liveSessions: number;
    };
  };
}

const activity =
  'activity(minutes: 2){minutes{at requests errors logins failedLogins refreshes} sockets subscriptions liveSessions}';

for (const kind of databaseKinds) {
  describe(`server information on ${kind.name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-settings-'));
    const nameFile = join(folder, 'name');
    const masterKey = 'm'.repeat(40);
    let tree: TreeTestbed;

    before(async () => {
      writeFileSync(nameFile, `${administrator.username}\n`);
      tree = await TreeTestbed.start(kind, {
        settings: {
          LOGIN_THROTTLE: 'off',
          METRICS_PORT: '0',
          MASTER_KEY: masterKey,
          ADMIN_USERNAME: '',
          ADMIN_USERNAME_FILE: nameFile,
        },
      });
    });
    after(async () => {
      await tree.stop();
      rmSync(folder, { recursive: true });
    });

    test('contains gauges, with the same values as the metrics', async () => {
      await tree.create('Counted');
      await tree.delete(await tree.create('Counted and deleted'));
      const query = '{server{gauges{folders users databaseBytes freeDiskBytes lastBackupAt} database{kind}}}';
      type Gauges = Record<'folders' | 'users' | 'databaseBytes', number> & {
        freeDiskBytes: number | null;
        lastBackupAt: null;
      };
      const { server } = await tree.query<{ server: { gauges: Gauges; database: { kind: string } } }>(query);
      const { folders, users, databaseBytes, freeDiskBytes, lastBackupAt } = server.gauges;
      assert.deepEqual([folders, users, lastBackupAt], [3, 1, null]);
      assert.ok(databaseBytes > 10_000 && Number.isInteger(databaseBytes), String(databaseBytes));
      if (server.database.kind === 'SQLITE') assert.ok(freeDiskBytes! > 0);
      else assert.equal(freeDiskBytes, null);
      const scraped = await Scrape.of(tree.server.metricsUrl!);
      assert.equal(scraped.number(catalog.folders.name), 3);
      assert.equal(scraped.number(catalog.users.name), 1);
      assert.equal(scraped.number(catalog.databaseSize.name), databaseBytes);
    });

    test('contains version, start, database and health', async () => {
      const { server } = await tree.query<{ server: Record<string, unknown> }>(
        '{server{version startedAt node database{kind schemaVersion} health{name isOk detail}}}',
      );
      const { database, health, ...rest } = server;
      assert.deepEqual(rest, {
        version: '0.0.0-test',
        startedAt: new Date(tree.server.clock.now()).toISOString(),
        node: hostname(),
      });
      const { schemaVersion, ...stored } = database as { schemaVersion: number };
      assert.equal(schemaVersion, migrations.length);
      assert.deepEqual(stored, { kind: kind === sqlite ? 'SQLITE' : 'POSTGRESQL' });
      assert.deepEqual(health, [
        { name: 'database', isOk: true, detail: 'The database responds.' },
        { name: 'migrations', isOk: true, detail: `The schema is up to date (${schemaVersion} migrations).` },
        { name: 'writes', isOk: true, detail: 'Changes are written.' },
        { name: 'signing key', isOk: true, detail: 'One key signs and verifies auth tokens.' },
        { name: 'notifications', isOk: true, detail: 'Changes of other processes arrive immediately.' },
        {
          name: 'disk',
          isOk: true,
          detail:
            kind === sqlite
              ? 'The disk of the database has enough free space.'
              : 'This node has no database file.',
        },
      ]);
    });

    test('contains the settings and the source of each, and never a secret', async () => {
      const query =
        '{server{settings{name subject description accepts value default source givenBy isSecret}}}';
      const { settings } = (await tree.query<Info>(query)).server;
      const read = (name: string) => {
        const { value, source, givenBy } = settings.find((each) => each.name === `ESPALIER_${name}`)!;
        return [value, source, givenBy];
      };
      assert.deepEqual(read('LOGIN_THROTTLE'), ['off', 'ENVIRONMENT', 'ESPALIER_LOGIN_THROTTLE']);
      assert.deepEqual(read('STOP_SECONDS'), ['10', 'DEFAULT', null]);
      assert.deepEqual(read('TLS_KEY_FILE'), [null, 'DEFAULT', null]);
      assert.deepEqual(read('ADMIN_USERNAME'), ['admin', 'FILE', 'ESPALIER_ADMIN_USERNAME_FILE']);
      assert.deepEqual(read('ADMIN_PASSWORD'), [null, 'ENVIRONMENT', 'ESPALIER_ADMIN_PASSWORD']);
      assert.deepEqual(read('MASTER_KEY'), [null, 'ENVIRONMENT', 'ESPALIER_MASTER_KEY']);
      const text = JSON.stringify(settings);
      assert.ok(!text.includes(masterKey) && !text.includes(administrator.password));
      const { password } = new URL(tree.server.database.url);
      const [displayedUrl] = read('DATABASE_URL');
      assert.ok(password === '' || !displayedUrl!.includes(password), 'no password in the URL');
    });

    test('contains the keys without their material', async () => {
      const { keys } = (
        await tree.query<Info>('{server{keys{id state createdAt signsFrom neededUntil sealedWith}}}')
      ).server;
      const { keys: published } = (await tree.server.send('GET', '/.well-known/jwks.json')).json<{
        keys: { kid: string }[];
      }>();
      assert.deepEqual(
        keys.map(({ id, state, neededUntil }) => [id, state, neededUntil]),
        published.map(({ kid }) => [kid, 'SIGNS', null]),
      );
      assert.notEqual((keys[0] as unknown as { sealedWith: string | null }).sealedWith, null);
    });

    test('contains the recent activity by minute', async () => {
      tree.server.clock.advanceSeconds(120);
      const at = new Date(Math.floor(tree.server.clock.now() / 60_000) * 60_000).toISOString();
      const tokens = await tree.server.logIn();
      await tree.server.logIn({ ...administrator, password: 'wrong horse' });
      const newTokens = (await tree.server.refresh(tokens)).json<typeof tokens>();
      const { minutes, liveSessions } = (
        await tree.query<Info>(`{server{${activity}}}`, {}, newTokens.authToken)
      ).server.activity;
      assert.equal(minutes.length, 2);
      const counted = { requests: 4, errors: 0, logins: 1, failedLogins: 1, refreshes: 1 };
      assert.deepEqual(minutes[1], { at, ...counted });
      assert.equal(liveSessions, 2);
      for (const wrong of [0, -1, 61]) {
        const { extensions } = await tree.readError(`{server{activity(minutes: ${wrong}){sockets}}}`);
        assert.equal(extensions.code, 'BAD_INPUT');
      }
    });

    test('contains the number of open sockets and subscriptions', async () => {
      const readOpenCounts = async () => {
        const { sockets, subscriptions } = (await tree.query<Info>(`{server{${activity}}}`)).server.activity;
        return [sockets, subscriptions];
      };
      const waitForCounts = (...expected: number[]) =>
        eventually(
          async () => isDeepStrictEqual(await readOpenCounts(), expected),
          `${expected.join()} are open`,
        );
      await waitForCounts(0, 0);
      const client = await SocketClient.connect(tree.server.url, tree.authToken);
      client.start('1', 'subscription{folderChanges{cursor}}');
      client.start('2', 'subscription{folderChanges{cursor}}');
      await waitForCounts(1, 2);
      client.send({ id: '1', type: 'complete' });
      await waitForCounts(1, 1);
      client.socket.close();
      await waitForCounts(0, 0);
    });

    test('is available to administrators only', async () => {
      const { authToken } = await tree.person({});
      const { extensions } = await tree.readError('{server{version}}', {}, authToken);
      assert.equal(extensions.code, 'FORBIDDEN');
    });
  });
}
