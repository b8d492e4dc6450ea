/** Subscriptions with the same document, variables and rights share one response. Other subscriptions never do. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Activity } from '../../server/src/observability/activity.ts';
import type { GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import { databaseKinds } from '../support/databases.ts';
import { MirrorTestbed, createViewer, type GraphResponse } from './mirror/mirror-testbed.ts';

const watchDocument =
  'subscription($under: ID, $after: String, $isLong: Boolean = false){folderChanges(under: $under, after: $after){kind folderId at by{username} folder{name accessLevel description @include(if: $isLong)}}}';
const grantsDocument = 'subscription{folderChanges{kind folder{name access{items{level user{username}}}}}}';
const detailsDocument = 'subscription{folderChanges{kind by{username isAdministrator}}}';

interface Change {
  readonly kind: string;
  readonly folderId: string | null;
  readonly by: { readonly username: string; readonly isAdministrator?: boolean | null } | null;
  readonly folder: {
    readonly name: string;
    readonly accessLevel: string;
    readonly description?: string | null;
    readonly access: { readonly items: { readonly user: { readonly username: string } | null }[] };
  } | null;
}

for (const kind of databaseKinds) {
  describe(`shared responses on ${kind.name}`, () => {
    let testbed: MirrorTestbed;
    let admin: string;
    let folderId: string;
    let activity: Activity;
    let statements = 0;
    let names = 0;
    const openStreams: GraphStream[] = [];
    const users = { ann: '', ben: '', cat: '', dan: '' };

    const run = async <T>(name: string, input: object, selection = '__typename', by = admin): Promise<T> => {
      const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
      const query = `mutation($input: ${type}!){${name}(input: $input){${selection}}}`;
      const { data, errors } = await testbed.run<Record<string, T>>(by, query, { input });
      assert.equal(errors, undefined);
      return data![name]!;
    };
    const create = async (parentId?: string, by = admin): Promise<string> =>
      (
        await run<{ folder: { id: string } }>(
          'createFolder',
          { name: `folder ${++names}`, parentId },
          'folder{id}',
          by,
        )
      ).folder.id;

    before(async () => {
      testbed = await MirrorTestbed.start(kind, {}, { onStatement: () => statements++ });
      testbed.changeServices((services) => {
        ({ activity } = services.server);
        return services;
      });
      admin = await testbed.administratorId();
      folderId = await create();
      for (const username of Object.keys(users) as (keyof typeof users)[]) {
        const input = { username, password: 'walnut cabin 0' };
        const { user } = await run<{ user: { id: string } }>('createUser', input, 'user{id}');
        users[username] = user.id;
      }
      for (const name of ['ann', 'ben'] as const) {
        await run('grantAccess', { folderId, userId: users[name], level: 'READ' });
      }
      await run('grantAccess', { folderId, userId: users.cat, level: 'WRITE' });
      await run('grantAccess', { folderId, userId: users.dan, level: 'MANAGE' });
      await testbed.awaitFeed();
    });
    after(() => testbed.stop());
    afterEach(async () => {
      assert.deepEqual(testbed.bugs, []);
      await Promise.all(openStreams.splice(0).map((stream) => stream.return()));
    });

    const subscribe = async (
      userId: string,
      query = watchDocument,
      variables: Record<string, unknown> = {},
    ) => {
      const stream = await testbed.graph.open({ query, variables }, createViewer(userId));
      assert.ok('next' in stream, 'text' in stream ? stream.text : '');
      openStreams.push(stream);
      return stream;
    };
    const next = async (stream: GraphStream): Promise<GraphResult> => {
      const { value } = await stream.next();
      return value!;
    };
    const readChange = ({ text }: GraphResult): Change => {
      const { data, errors } = JSON.parse(text) as GraphResponse<{ folderChanges: Change }>;
      assert.ok(data, JSON.stringify(errors));
      return data.folderChanges;
    };
    /** Returns how many responses were computed and shared during `work`. */
    const countResponses = async (work: () => Promise<void>) => {
      const { computed, shared } = activity.responses;
      await work();
      return [activity.responses.computed - computed, activity.responses.shared - shared];
    };
    const nextOfAll = async (streams: readonly GraphStream[]) => Promise.all(streams.map(next));

    test('are used for users with the same grants, whatever cursor they started from', async () => {
      const { data } = await testbed.run<{ cursor: string }>(admin, '{cursor}');
      const streams = [
        await subscribe(users.ann),
        await subscribe(users.ann, watchDocument, { after: data!.cursor }),
        await subscribe(users.ben),
        await subscribe(users.ben, watchDocument, { after: null }),
      ];
      const counts = await countResponses(async () => {
        const id = await create(folderId);
        const responses = await nextOfAll(streams);
        assert.deepEqual(new Set(responses.map(({ text }) => text)).size, 1);
        assert.equal(readChange(responses[0]!).folderId, id);
      });
      assert.deepEqual(counts, [1, 3]);
    });

    test('need hardly more statements for a hundred subscriptions than for two', async () => {
      const cost = async (count: number) => {
        const streams: GraphStream[] = [];
        for (let number = 0; number < count; number++) {
          streams.push(await subscribe(number % 2 === 0 ? users.ann : users.cat));
        }
        await testbed.awaitFeed();
        const before = statements;
        await create(folderId);
        await nextOfAll(streams);
        await Promise.all(streams.map((stream) => stream.return()));
        return statements - before;
      };
      await cost(2);
      const [few, many] = [await cost(2), await cost(100)];
      // The journal's feed may poll meanwhile.
      assert.ok(many <= few + 4, `${few} statements for 2 subscriptions, ${many} for 100`);
    });

    test('need at most twice as many statements for a hundred subscriptions as for two after access has changed', async () => {
      const cost = async (count: number) => {
        const streams: GraphStream[] = [];
        for (let number = 0; number < count; number++) {
          streams.push(await subscribe(number % 2 === 0 ? users.ann : users.cat));
        }
        await testbed.awaitFeed();
        const before = statements;
        const elsewhere = await create();
        await run('grantAccess', { folderId: elsewhere, userId: users.ben, level: 'READ' });
        await create(folderId);
        await nextOfAll(streams);
        await Promise.all(streams.map((stream) => stream.return()));
        return statements - before;
      };
      await cost(2);
      const [few, many] = [await cost(2), await cost(100)];
      assert.ok(many <= few * 2, `${few} statements for 2 subscriptions, ${many} for 100`);
    });

    test('differ for users with different rights', async () => {
      const streams = [await subscribe(users.ann), await subscribe(users.cat), await subscribe(users.dan)];
      await create(folderId);
      const changes = (await nextOfAll(streams)).map(readChange);
      assert.deepEqual(
        changes.map(({ folder, by }) => [folder!.accessLevel, by?.username]),
        [
          ['READ', undefined],
          ['WRITE', undefined],
          ['MANAGE', 'admin'],
        ],
      );
    });

    test('show the author of a change to the author, but not to other users with the same rights', async () => {
      await run('grantAccess', { folderId, userId: users.ben, level: 'WRITE' });
      const streams = [await subscribe(users.ben), await subscribe(users.cat), await subscribe(users.cat)];
      await create(folderId, users.ben);
      const first = (await nextOfAll(streams)).map(readChange);
      assert.deepEqual(
        first.map(({ by }) => by?.username),
        ['ben', undefined, undefined],
      );
      await create(folderId, users.cat);
      const second = (await nextOfAll(streams)).map(readChange);
      assert.deepEqual(
        second.map(({ by }) => by?.username),
        [undefined, 'cat', 'cat'],
      );
      await run('grantAccess', { folderId, userId: users.ben, level: 'READ' });
    });

    test('are no longer used after the rights of one user have changed', async () => {
      const inner = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await create(inner);
      assert.equal((await next(ann)).text, (await next(ben)).text);
      await run('grantAccess', { folderId: inner, userId: users.ben, level: 'NONE' });
      await run('updateFolder', { id: inner, description: 'secret' });
      const [forAnn, forBen] = (await nextOfAll([ann, ben])).map(readChange);
      assert.deepEqual([forAnn!.kind, forBen!.kind], ['UPDATE', 'DELETE']);
      assert.equal(forBen!.folder, null);
      await run('revokeAccess', { folderId: inner, userId: users.ben });
    });

    test('are not reused for a user who has lost access to the folder', async () => {
      const inner = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await create(inner);
      assert.ok(readChange(await next(ann)).folder);
      await run('grantAccess', { folderId: inner, userId: users.ben, level: 'NONE' });
      await testbed.awaitFeed();
      assert.equal(readChange(await next(ben)).folder?.name ?? null, null);
      await run('revokeAccess', { folderId: inner, userId: users.ben });
    });

    test('are not reused after the folder has changed again', async () => {
      const id = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await run('updateFolder', { id, name: `first ${names}` });
      assert.equal(readChange(await next(ann)).folder!.name, `first ${names}`);
      await run('updateFolder', { id, name: `second ${names}` });
      await testbed.awaitFeed();
      assert.equal(readChange(await next(ben)).folder!.name, `second ${names}`);
    });

    test('are not used for other variables of the same document', async () => {
      const other = await create(folderId);
      const inside = await create(folderId);
      const streams = [
        await subscribe(users.ann, watchDocument, { isLong: true }),
        await subscribe(users.ann, watchDocument, { isLong: false }),
        await subscribe(users.ann, watchDocument, { under: inside }),
        await subscribe(users.ann, watchDocument, { under: other }),
      ];
      const counts = await countResponses(async () => {
        await run('updateFolder', { id: inside, description: 'new' });
        const [long, short, under] = (await nextOfAll(streams.slice(0, 3))).map(readChange);
        assert.deepEqual([long!.folder!.description, short!.folder!.description], ['new', undefined]);
        assert.equal(under!.folderId, inside);
      });
      assert.deepEqual(counts, [3, 0]);
    });

    test('are used only within one session if they depend on the viewer', async () => {
      const streams = [
        await subscribe(users.ann, grantsDocument),
        await subscribe(users.ann, grantsDocument),
        await subscribe(users.ben, grantsDocument),
      ];
      const counts = await countResponses(async () => {
        await run('updateFolder', { id: folderId, description: `${++names}` });
        const grantees = (await nextOfAll(streams)).map((response) =>
          readChange(response).folder!.access.items.map(({ user }) => user!.username),
        );
        assert.deepEqual(grantees, [['ann'], ['ann'], ['ben']]);
      });
      assert.deepEqual(counts, [2, 1]);
    });

    test('follow the same rules for errors as for data', async () => {
      const streams = [
        await subscribe(users.dan, detailsDocument),
        await subscribe(users.dan, detailsDocument),
      ];
      const administrator = await subscribe(admin, detailsDocument);
      await create(folderId);
      const responses = await nextOfAll(streams);
      for (const { text } of responses) {
        const { errors } = JSON.parse(text) as GraphResponse<unknown>;
        assert.deepEqual(
          errors!.map(({ extensions }) => extensions!.code),
          ['FORBIDDEN'],
        );
      }
      assert.equal(readChange(await next(administrator)).by!.isAdministrator, true);
    });

    test('do not delay fast subscriptions, and lose no change for slow ones', async () => {
      const [slow, fast] = [await subscribe(users.ann), await subscribe(users.ben)];
      const ids = [await create(folderId), await create(folderId), await create(folderId)];
      for (const id of ids) assert.equal(readChange(await next(fast)).folderId, id);
      for (const id of ids) assert.equal(readChange(await next(slow)).folderId, id);
    });

    test('are used for the RESYNC of equal subscriptions that cannot resume from their cursors', async () => {
      const { data } = await testbed.run<{ cursor: string }>(admin, '{cursor}');
      await run('grantAccess', { folderId, userId: users.ann, level: 'WRITE' });
      await run('grantAccess', { folderId, userId: users.ann, level: 'READ' });
      await testbed.awaitFeed();
      const after = data!.cursor;
      const [one, other] = [
        await subscribe(users.ann, watchDocument, { after }),
        await subscribe(users.ann, watchDocument, { after }),
      ];
      const counts = await countResponses(async () => {
        const responses = await nextOfAll([one, other]);
        assert.deepEqual(
          responses.map((response) => readChange(response).kind),
          ['RESYNC', 'RESYNC'],
        );
      });
      assert.deepEqual(counts, [1, 1]);
    });

    test('reach a subscription even if another one stops while they are computed', async () => {
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      const id = await create(folderId);
      await testbed.awaitFeed();
      const [first, second] = [ann.next(), ben.next()];
      await ann.return();
      await first;
      assert.equal(readChange((await second).value!).folderId, id);
    });
  });
}
