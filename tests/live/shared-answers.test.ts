/** Subscriptions with the same document, variables and rights share one answer, and no others do. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { isObjectType, getNamedType, type GraphQLObjectType } from 'graphql';
import type { Activity } from '../../server/src/activity.ts';
import type { GraphResult, GraphStream } from '../../server/src/graph/graph.ts';
import { createSchema } from '../../server/src/graph/schema.ts';
import { databaseKinds } from '../databases.ts';
import { MirrorBed, viewerOf, type Answer } from './mirror-bed.ts';

const watched =
  'subscription($under: ID, $after: String, $isLong: Boolean = false){folderChanges(under: $under, after: $after){kind folderId at by{username} folder{name accessLevel description @include(if: $isLong)}}}';
const withGrants = 'subscription{folderChanges{kind folder{name access{items{level user{username}}}}}}';
const withDetails = 'subscription{folderChanges{kind by{username isAdministrator}}}';

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
  describe(`shared answers on ${kind.name}`, () => {
    let bed: MirrorBed;
    let admin: string;
    let folderId: string;
    let activity: Activity;
    let statements = 0;
    let names = 0;
    const open: GraphStream[] = [];
    const users = { ann: '', ben: '', cat: '', dan: '' };

    const run = async <T>(name: string, input: object, selection = '__typename', by = admin): Promise<T> => {
      const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
      const query = `mutation($input: ${type}!){${name}(input: $input){${selection}}}`;
      const { data, errors } = await bed.run<Record<string, T>>(by, query, { input });
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
      bed = await MirrorBed.start(kind, {}, { onStatement: () => statements++ });
      bed.servicesWith((services) => {
        ({ activity } = services.server);
        return services;
      });
      admin = await bed.administratorId();
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
      await bed.place();
    });
    after(() => bed.stop());
    afterEach(async () => {
      assert.deepEqual(bed.bugs, []);
      await Promise.all(open.splice(0).map((stream) => stream.return()));
    });

    const subscribe = async (userId: string, query = watched, variables: Record<string, unknown> = {}) => {
      const stream = await bed.graph.open({ query, variables }, viewerOf(userId));
      assert.ok('next' in stream, 'text' in stream ? stream.text : '');
      open.push(stream);
      return stream;
    };
    const next = async (stream: GraphStream): Promise<GraphResult> => {
      const { value } = await stream.next();
      return value!;
    };
    const changeIn = ({ text }: GraphResult): Change => {
      const { data, errors } = JSON.parse(text) as Answer<{ folderChanges: Change }>;
      assert.ok(data, JSON.stringify(errors));
      return data.folderChanges;
    };
    /** How many answers were computed and shared while `work` was done. */
    const counted = async (work: () => Promise<void>) => {
      const { computed, shared } = activity.responses;
      await work();
      return [activity.responses.computed - computed, activity.responses.shared - shared];
    };
    const nextOfAll = async (streams: readonly GraphStream[]) => Promise.all(streams.map(next));

    test('users with the same grants share, whatever cursor they started from', async () => {
      const { data } = await bed.run<{ cursor: string }>(admin, '{cursor}');
      const streams = [
        await subscribe(users.ann),
        await subscribe(users.ann, watched, { after: data!.cursor }),
        await subscribe(users.ben),
        await subscribe(users.ben, watched, { after: null }),
      ];
      const counts = await counted(async () => {
        const id = await create(folderId);
        const answers = await nextOfAll(streams);
        assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1);
        assert.equal(changeIn(answers[0]!).folderId, id);
      });
      assert.deepEqual(counts, [1, 3]);
    });

    test('a change for a hundred subscriptions takes hardly more statements than one for two', async () => {
      const cost = async (count: number) => {
        const streams: GraphStream[] = [];
        for (let number = 0; number < count; number++) {
          streams.push(await subscribe(number % 2 === 0 ? users.ann : users.cat));
        }
        await bed.place();
        const before = statements;
        await create(folderId);
        await nextOfAll(streams);
        await Promise.all(streams.map((stream) => stream.return()));
        return statements - before;
      };
      await cost(2);
      const [few, many] = [await cost(2), await cost(100)];
      // The journal's feed may poll meanwhile.
      assert.ok(many <= few + 4, `${few} and ${many}`);
    });

    test('a change of access for a hundred subscriptions is read once for each user', async () => {
      const cost = async (count: number) => {
        const streams: GraphStream[] = [];
        for (let number = 0; number < count; number++) {
          streams.push(await subscribe(number % 2 === 0 ? users.ann : users.cat));
        }
        await bed.place();
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
      assert.ok(many <= few * 2, `${few} and ${many}`);
    });

    test('users of different rights get different answers to the same change', async () => {
      const streams = [await subscribe(users.ann), await subscribe(users.cat), await subscribe(users.dan)];
      await create(folderId);
      const changes = (await nextOfAll(streams)).map(changeIn);
      assert.deepEqual(
        changes.map(({ folder, by }) => [folder!.accessLevel, by?.username]),
        [
          ['READ', undefined],
          ['WRITE', undefined],
          ['MANAGE', 'admin'],
        ],
      );
    });

    test('names the author of a change only to the author, among users with the same rights', async () => {
      await run('grantAccess', { folderId, userId: users.ben, level: 'WRITE' });
      const streams = [await subscribe(users.ben), await subscribe(users.cat), await subscribe(users.cat)];
      await create(folderId, users.ben);
      const first = (await nextOfAll(streams)).map(changeIn);
      assert.deepEqual(
        first.map(({ by }) => by?.username),
        ['ben', undefined, undefined],
      );
      await create(folderId, users.cat);
      const second = (await nextOfAll(streams)).map(changeIn);
      assert.deepEqual(
        second.map(({ by }) => by?.username),
        [undefined, 'cat', 'cat'],
      );
      await run('grantAccess', { folderId, userId: users.ben, level: 'READ' });
    });

    test('rights that change between two changes end the sharing', async () => {
      const inner = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await create(inner);
      assert.equal((await next(ann)).text, (await next(ben)).text);
      await run('grantAccess', { folderId: inner, userId: users.ben, level: 'NONE' });
      await run('updateFolder', { id: inner, description: 'secret' });
      const [forAnn, forBen] = (await nextOfAll([ann, ben])).map(changeIn);
      assert.deepEqual([forAnn!.kind, forBen!.kind], ['UPDATE', 'DELETE']);
      assert.equal(forBen!.folder, null);
      await run('revokeAccess', { folderId: inner, userId: users.ben });
    });

    test('an answer that was computed before a revocation is not given to a client that reads after it', async () => {
      const inner = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await create(inner);
      assert.ok(changeIn(await next(ann)).folder);
      await run('grantAccess', { folderId: inner, userId: users.ben, level: 'NONE' });
      await bed.place();
      assert.equal(changeIn(await next(ben)).folder?.name ?? null, null);
      await run('revokeAccess', { folderId: inner, userId: users.ben });
    });

    test('an answer is not shared with a client that reads when the folder has changed again', async () => {
      const id = await create(folderId);
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      await run('updateFolder', { id, name: `first ${names}` });
      assert.equal(changeIn(await next(ann)).folder!.name, `first ${names}`);
      await run('updateFolder', { id, name: `second ${names}` });
      await bed.place();
      assert.equal(changeIn(await next(ben)).folder!.name, `second ${names}`);
    });

    test('the same document with other variables is not shared', async () => {
      const other = await create(folderId);
      const inside = await create(folderId);
      const streams = [
        await subscribe(users.ann, watched, { isLong: true }),
        await subscribe(users.ann, watched, { isLong: false }),
        await subscribe(users.ann, watched, { under: inside }),
        await subscribe(users.ann, watched, { under: other }),
      ];
      const counts = await counted(async () => {
        await run('updateFolder', { id: inside, description: 'new' });
        const [long, short, under] = (await nextOfAll(streams.slice(0, 3))).map(changeIn);
        assert.deepEqual([long!.folder!.description, short!.folder!.description], ['new', undefined]);
        assert.equal(under!.folderId, inside);
      });
      assert.deepEqual(counts, [3, 0]);
    });

    test('answers that depend on who the viewer is are shared only by one session', async () => {
      const streams = [
        await subscribe(users.ann, withGrants),
        await subscribe(users.ann, withGrants),
        await subscribe(users.ben, withGrants),
      ];
      const counts = await counted(async () => {
        await run('updateFolder', { id: folderId, description: `${++names}` });
        const grantees = (await nextOfAll(streams)).map((answer) =>
          changeIn(answer).folder!.access.items.map(({ user }) => user!.username),
        );
        assert.deepEqual(grantees, [['ann'], ['ann'], ['ben']]);
      });
      assert.deepEqual(counts, [2, 1]);
    });

    test('an error is shared by the same rules as data', async () => {
      const streams = [await subscribe(users.dan, withDetails), await subscribe(users.dan, withDetails)];
      const administrator = await subscribe(admin, withDetails);
      await create(folderId);
      const answers = await nextOfAll(streams);
      for (const { text } of answers) {
        const { errors } = JSON.parse(text) as Answer<unknown>;
        assert.deepEqual(
          errors!.map(({ extensions }) => extensions!.code),
          ['FORBIDDEN'],
        );
      }
      assert.equal(changeIn(await next(administrator)).by!.isAdministrator, true);
    });

    test('a subscription that is slow gets every change, and delays no other', async () => {
      const [slow, fast] = [await subscribe(users.ann), await subscribe(users.ben)];
      const ids = [await create(folderId), await create(folderId), await create(folderId)];
      for (const id of ids) assert.equal(changeIn(await next(fast)).folderId, id);
      for (const id of ids) assert.equal(changeIn(await next(slow)).folderId, id);
    });

    test('equal subscriptions that cannot go on from their cursors share the RESYNC', async () => {
      const { data } = await bed.run<{ cursor: string }>(admin, '{cursor}');
      await run('grantAccess', { folderId, userId: users.ann, level: 'WRITE' });
      await run('grantAccess', { folderId, userId: users.ann, level: 'READ' });
      await bed.place();
      const after = data!.cursor;
      const [one, other] = [
        await subscribe(users.ann, watched, { after }),
        await subscribe(users.ann, watched, { after }),
      ];
      const counts = await counted(async () => {
        const answers = await nextOfAll([one, other]);
        assert.deepEqual(
          answers.map((answer) => changeIn(answer).kind),
          ['RESYNC', 'RESYNC'],
        );
      });
      assert.deepEqual(counts, [1, 1]);
    });

    test('one subscription that is stopped while it computes does not take the answer from another', async () => {
      const [ann, ben] = [await subscribe(users.ann), await subscribe(users.ben)];
      const id = await create(folderId);
      await bed.place();
      const [first, second] = [ann.next(), ben.next()];
      await ann.return();
      await first;
      assert.equal(changeIn((await second).value!).folderId, id);
    });
  });
}

/** Fields that a subscription can reach whose value depends on the viewer and not only on rights. Mark new ones. */
const personal = [
  'Folder.access',
  'Session.isCurrent',
  'User.createdAt',
  'User.grants',
  'User.groups',
  'User.isAdministrator',
  'User.isDisabled',
  'User.lastLoginAt',
  'User.sessions',
];

const reachable = [
  'Folder',
  'FolderChange',
  'FolderConnection',
  'FolderEdge',
  'Grant',
  'GrantConnection',
  'GrantEdge',
  'Group',
  'GroupConnection',
  'GroupEdge',
  'JournalEntry',
  'PageInfo',
  'Session',
  'SessionConnection',
  'SessionEdge',
  'SessionRefresh',
  'Subscription',
  'User',
  'UserConnection',
  'UserEdge',
];

test('every field that subscriptions reach is known to depend on the viewer, or not to', () => {
  const schema = createSchema();
  const reached = new Set<GraphQLObjectType>();
  const reach = (type: unknown) => {
    if (!isObjectType(type) || reached.has(type)) return;
    reached.add(type);
    Object.values(type.getFields()).forEach((field) => reach(getNamedType(field.type)));
  };
  reach(schema.getSubscriptionType());
  const marked = [...reached].flatMap((type) =>
    Object.values(type.getFields())
      .filter(({ extensions }) => extensions['isPersonal'] === true)
      .map(({ name }) => `${type.name}.${name}`),
  );
  assert.deepEqual(marked.sort(), personal);
  // When a type is added here, mark its fields that depend on who the viewer is.
  assert.deepEqual([...reached].map(({ name }) => name).sort(), reachable);
});
