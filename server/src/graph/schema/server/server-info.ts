/** How the server is doing, for administrators: version, database, health, settings, keys and activity. */

import { maxMinutes, type Activity, type ActivityMinute } from '../../../observability/activity.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { readSchemaVersion } from '../../../database/migrations.ts';
import { listKeyStatuses, type KeyStatus, type KeyState } from '../../../sessions/key-rotation.ts';
import { readKeyRows } from '../../../sessions/signing-keys.ts';
import type { Builder } from '../builder.ts';
import { requireAdministrator } from '../../../accounts/users.ts';
import type { HealthCheck } from '../../../observability/health.ts';
import { Refusal } from '../../../refusal.ts';
import { countSessions } from '../../../sessions/list-sessions.ts';
import type { DisplayedSetting } from '../../../config/setting.ts';

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
            budget.spend(listKeyStatuses(rows, { now: clock.now(), refreshTokenSeconds }), info),
          ),
      }),
      activity: t.field({
        type: Activity,
        description: 'What this node has done lately; others have their own.',
        args: {
          minutes: t.arg.int({
            required: true,
            defaultValue: maxMinutes,
            description: `So many of the last minutes, with the one that has begun: 1 to ${maxMinutes}.`,
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
          budget.spend(server.activity.lastMinutes(minutes), info),
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
  if (minutes >= 1 && minutes <= maxMinutes) return minutes;
  throw new Refusal('BAD_INPUT', `\`minutes\` is 1 to ${maxMinutes}: no more are remembered.`);
}

export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  /** The name of the machine. */
  readonly node: string;
  readonly databaseKind: 'SQLITE' | 'POSTGRESQL';
  readonly settings: readonly DisplayedSetting[];
  readonly refreshTokenSeconds: number;
  readonly activity: Activity;
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
}

const sources: Readonly<Record<DisplayedSetting['source'], string>> = {
  DEFAULT: 'It is not given.',
  ENVIRONMENT: 'In a variable of the environment.',
  FILE: 'In a file that a variable or a flag names.',
  COMMAND_LINE: 'By a flag.',
};

export function defineSetting(builder: Builder) {
  const Source = builder.enumType('SettingSource', {
    values: Object.fromEntries(
      Object.entries(sources).map(([name, description]) => [name, { description }]),
    ) as Record<DisplayedSetting['source'], { description: string }>,
  });

  return builder.objectRef<DisplayedSetting>('Setting').implement({
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The variable of the environment.' }),
      subject: t.exposeString('subject', { description: 'What it is about, among others: Network, Limits.' }),
      description: t.exposeString('description'),
      accepts: t.exposeString('accepts', { description: 'What a good value looks like.' }),
      value: t.exposeString('value', {
        nullable: true,
        description:
          'As it was written, without passwords; the default if it is not given. Null for a secret, and if there is neither.',
      }),
      default: t.exposeString('default', { nullable: true, description: 'Null if there is none.' }),
      source: t.expose('source', { type: Source }),
      givenBy: t.exposeString('givenBy', {
        nullable: true,
        description: 'The variable or flag that it was given by.',
      }),
      isSecret: t.exposeBoolean('isSecret', { description: 'Never shown.' }),
    }),
  });
}

const states: Readonly<Record<Uppercase<KeyState>, { value: KeyState; description: string }>> = {
  PUBLISHED: { value: 'published', description: 'It verifies already, and will sign.' },
  SIGNS: { value: 'signs', description: 'It signs.' },
  VERIFIES: { value: 'verifies', description: 'It verifies what it has signed before.' },
};

export function defineSigningKey(builder: Builder) {
  const State = builder.enumType('SigningKeyState', { values: states });

  return builder.objectRef<KeyStatus>('SigningKey').implement({
    description: 'A key that signs or verifies auth tokens.',
    fields: (t) => ({
      id: t.exposeID('id'),
      state: t.field({ type: State, resolve: ({ state }) => state }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      signsFrom: t.expose('signsFrom', { type: 'DateTime' }),
      neededUntil: t.expose('neededUntil', {
        type: 'DateTime',
        nullable: true,
        description: 'When nothing that it signed can be in use any more; null while it signs, and before.',
      }),
      sealedWith: t.exposeString('sealedWith', {
        nullable: true,
        description: 'Which master key seals it; null if none does.',
      }),
    }),
  });
}
