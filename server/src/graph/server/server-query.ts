/** How the server is doing, for administrators: version, database, health, settings, keys and activity. */

import { mostMinutes } from '../../activity.ts';
import { whenDone } from '../../database/database.ts';
import { readSchemaVersion } from '../../database/migrations.ts';
import { keyStates } from '../../sessions/key-states.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import type { Builder } from '../builder.ts';
import { requireAdministrator } from '../../accounts/administrator.ts';
import { defineActivity, requireMinutes } from './activity-type.ts';
import type { HealthCheck } from '../../health.ts';
import type { ServerFacts } from './server-facts.ts';
import { defineSetting } from './setting-type.ts';
import { defineSigningKey } from './signing-key-type.ts';

export function defineServer(builder: Builder): void {
  const Info = defineServerInfo(builder);
  builder.queryField('server', (t) =>
    t.field({
      type: Info,
      description: 'How the server is doing. For administrators.',
      resolve: (_, __, { access, server }) => {
        requireAdministrator(access);
        return server;
      },
    }),
  );
}

function defineServerInfo(builder: Builder) {
  const DatabaseInfo = defineDatabaseInfo(builder);
  const Check = defineHealthCheck(builder);
  const Setting = defineSetting(builder);
  const Key = defineSigningKey(builder);
  const Activity = defineActivity(builder);

  return builder.objectRef<ServerFacts>('ServerInfo').implement({
    description: 'The server, as the node that answers sees it.',
    fields: (t) => ({
      version: t.exposeString('version'),
      startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When this node was started.' }),
      node: t.exposeString('node', { description: 'The name of the machine that this node runs on.' }),
      database: t.field({ type: DatabaseInfo, resolve: (server) => server }),
      health: t.field({
        type: [Check],
        description: 'What this node needs to work, each with whether it has it.',
        resolve: async (server, _, { budget }, info) => budget.spend(await server.checkHealth(), info),
      }),
      settings: t.field({
        type: [Setting],
        description: 'What this node was started with.',
        resolve: ({ settings }, _, { budget }, info) => budget.spend(settings, info),
      }),
      keys: t.field({
        type: [Key],
        description: 'The keys that sign and verify auth tokens, the newest first.',
        resolve: ({ refreshTokenSeconds }, _, { reader, clock, budget }, info) =>
          whenDone(readKeyRows(reader), (rows) =>
            budget.spend(keyStates(rows, { now: clock.now(), refreshTokenSeconds }), info),
          ),
      }),
      activity: t.field({
        type: Activity,
        description: 'What this node has done lately; others have their own.',
        args: {
          minutes: t.arg.int({
            required: true,
            defaultValue: mostMinutes,
            description: `So many of the last minutes, with the one that has begun: 1 to ${mostMinutes}.`,
          }),
        },
        resolve: (_, { minutes }) => ({ minutes: requireMinutes(minutes) }),
      }),
    }),
  });
}

function defineDatabaseInfo(builder: Builder) {
  const Kind = builder.enumType('DatabaseKind', {
    values: { SQLITE: { description: 'Embedded: one file.' }, POSTGRESQL: {} },
  });
  return builder.objectRef<ServerFacts>('DatabaseInfo').implement({
    fields: (t) => ({
      kind: t.field({ type: Kind, resolve: ({ databaseKind }) => databaseKind }),
      schemaVersion: t.int({
        description: 'How many migrations it has had.',
        resolve: (_, __, { reader }) => readSchemaVersion(reader),
      }),
    }),
  });
}

function defineHealthCheck(builder: Builder) {
  return builder.objectRef<HealthCheck>('HealthCheck').implement({
    fields: (t) => ({
      name: t.exposeString('name'),
      isOk: t.exposeBoolean('isOk'),
      detail: t.exposeString('detail', { description: 'In a sentence, for people.' }),
    }),
  });
}
