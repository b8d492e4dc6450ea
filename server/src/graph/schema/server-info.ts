/** The state of the server, for administrators: version, database, health, settings, keys and activity. */

import { requireAdministrator } from '../../accounts/users.ts';
import { whenDone } from '../../concurrency/promise-or-value.ts';
import type { DisplayedSetting } from '../../config/setting.ts';
import { readSchemaVersion } from '../../database/migrations.ts';
import { maxMinutes, type ActivityMinute as MinuteCounts } from '../../observability/activity.ts';
import type { Gauges as GaugeValues } from '../../observability/gauges.ts';
import type { HealthCheck as CheckResult } from '../../observability/health.ts';
import { Refusal } from '../../refusal.ts';
import { listKeyStatuses, type KeyStatus, type KeyState } from '../../sessions/manage-signing-keys.ts';
import { countSessions } from '../../sessions/session-reads.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { builder, type ServerFacts } from './builder.ts';
import { chargeList } from './charges.ts';

const DatabaseKind = builder.enumType('DatabaseKind', {
  description: 'The kind of the database.',
  values: {
    SQLITE: { description: 'SQLite: an embedded database in one file.' },
    POSTGRESQL: { description: 'PostgreSQL.' },
  },
});

const DatabaseInfo = builder.objectRef<ServerFacts>('DatabaseInfo').implement({
  description: 'The database of the server.',
  fields: (t) => ({
    kind: t.expose('databaseKind', { type: DatabaseKind, description: 'The kind of the database.' }),
    schemaVersion: t.int({
      description: 'The number of migrations that were applied to the database.',
      resolve: (_, __, { reader }) => readSchemaVersion(reader),
    }),
  }),
});

const HealthCheck = builder.objectRef<CheckResult>('HealthCheck').implement({
  description: 'A health check and its result.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the check. For example: database.' }),
    isOk: t.exposeBoolean('isOk', { description: 'Whether the check succeeded.' }),
    detail: t.exposeString('detail', { description: 'A sentence about the result, for display.' }),
  }),
});

const SettingSource = builder.enumType('SettingSource', {
  description: 'The source of the value of a setting.',
  values: {
    DEFAULT: { description: 'The default, because the setting is not set.' },
    ENVIRONMENT: { description: 'An environment variable.' },
    FILE: { description: 'A file that an environment variable or a flag names.' },
    COMMAND_LINE: { description: 'A flag of the command line.' },
  } satisfies Record<DisplayedSetting['source'], object>,
});

const Setting = builder.objectRef<DisplayedSetting>('Setting').implement({
  description: 'A setting of the server.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The name of the environment variable. For example: ESPALIER_PORT.',
    }),
    subject: t.exposeString('subject', { description: 'The subject of the setting, for example Network.' }),
    description: t.exposeString('description', { description: 'What the setting does.' }),
    accepts: t.exposeString('accepts', {
      description: 'The accepted values. For example: a whole number from 0 to 65535.',
    }),
    value: t.exposeString('value', {
      nullable: true,
      description:
        'The value without passwords, or the default if the setting is not set. Null for a secret, and if there is no value.',
    }),
    default: t.exposeString('default', {
      nullable: true,
      description: 'The default. Null if there is none.',
    }),
    source: t.expose('source', { type: SettingSource, description: 'The source of the value.' }),
    givenBy: t.exposeString('givenBy', {
      nullable: true,
      description: 'The environment variable or the flag that sets the value.',
    }),
    isSecret: t.exposeBoolean('isSecret', { description: 'Whether the value is a secret, which is hidden.' }),
  }),
});

const SigningKeyState = builder.enumType('SigningKeyState', {
  description: 'The state of a signing key.',
  values: {
    PUBLISHED: { value: 'published', description: 'The key verifies tokens, and will sign later.' },
    SIGNS: { value: 'signs', description: 'The key signs new tokens.' },
    VERIFIES: { value: 'verifies', description: 'The key verifies the tokens that it has signed before.' },
  } satisfies Record<Uppercase<KeyState>, { value: KeyState; description: string }>,
});

const SigningKey = builder.objectRef<KeyStatus>('SigningKey').implement({
  description: 'A key that signs or verifies auth tokens.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, which is the `kid` of its tokens.' }),
    state: t.expose('state', { type: SigningKeyState, description: 'The state of the key.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
    signsFrom: t.expose('signsFrom', {
      type: 'DateTime',
      description: 'When the key starts to sign new tokens.',
    }),
    neededUntil: t.expose('neededUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time after which no token with the signature of this key is in use. Null until the key stops signing.',
    }),
    sealedWith: t.exposeString('sealedWith', {
      nullable: true,
      description: 'The master key that encrypts this key. Null if this key is not encrypted.',
    }),
  }),
});

const ActivityMinute = builder.objectRef<MinuteCounts>('ActivityMinute').implement({
  description: 'The activity of a node in one minute.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The start of the minute.' }),
    requests: t.exposeInt('requests', { description: 'The number of HTTP requests.' }),
    errors: t.exposeInt('errors', { description: 'The number of responses with status 500 or higher.' }),
    logins: t.exposeInt('logins', { description: 'The number of successful logins.' }),
    failedLogins: t.exposeInt('failedLogins', {
      description:
        'The number of failed logins with any method, including those during a pause after too many failures.',
    }),
    refreshes: t.exposeInt('refreshes', { description: 'The number of successful refreshes.' }),
  }),
});

const Activity = builder.objectRef<{ readonly minutes: number }>('Activity').implement({
  description: 'The current and recent activity of a node.',
  fields: (t) => ({
    minutes: t.field({
      type: [ActivityMinute],
      description: 'The minutes in order of time. The last minute is not over yet.',
      resolve: chargeList(({ minutes }, { server }) => server.activity.lastMinutes(minutes)),
    }),
    sockets: t.int({
      description: 'The number of open WebSockets and event streams.',
      resolve: (_, __, { server }) => server.activity.sockets,
    }),
    subscriptions: t.int({
      description: 'The number of open subscriptions.',
      resolve: (_, __, { server }) => server.activity.subscriptions,
    }),
    liveSessions: t.int({
      description: 'The number of active sessions on all nodes.',
      resolve: (_, __, { reader, clock }) => countSessions(reader, clock.now()),
    }),
  }),
});

const Gauges = builder.objectRef<GaugeValues>('ServerGauges').implement({
  description: 'The size of the installation. The values are up to 10 seconds old.',
  fields: (t) => ({
    folders: t.exposeInt('folders', {
      description: 'The number of stored folders, including deleted folders that are not purged.',
    }),
    users: t.exposeInt('users', { description: 'The number of users, including disabled users.' }),
    databaseBytes: t.exposeFloat('databaseBytes', { description: 'The size of the database, in bytes.' }),
    freeDiskBytes: t.exposeFloat('freeDiskBytes', {
      nullable: true,
      description: 'The free space on the disk of the database file, in bytes. Null with PostgreSQL.',
    }),
    lastBackupAt: t.expose('lastBackupAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the newest scheduled backup started. Null if there is none.',
    }),
  }),
});

const ServerInfo = builder.objectRef<ServerFacts>('ServerInfo').implement({
  description: 'The state of the server. Some values describe only the node that responds.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of the server. For example: 1.2.0.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When this node started.' }),
    node: t.exposeString('node', { description: 'The name of the machine of this node.' }),
    database: t.field({
      type: DatabaseInfo,
      description: 'The database of the server.',
      resolve: (server) => server,
    }),
    health: t.field({
      type: [HealthCheck],
      description: 'The health checks of this node.',
      resolve: chargeList((server) => server.checkHealth()),
    }),
    gauges: t.field({
      type: Gauges,
      description: 'The size of the installation.',
      resolve: (server) => server.readGauges(),
    }),
    settings: t.field({
      type: [Setting],
      description: 'The settings of this node.',
      resolve: chargeList(({ settings }) => settings),
    }),
    keys: t.field({
      type: [SigningKey],
      description: 'The keys that sign and verify auth tokens, newest first.',
      resolve: chargeList(({ refreshTokenSeconds }, { reader, clock }) =>
        whenDone(readKeyRows(reader), (rows) =>
          listKeyStatuses(rows, { now: clock.now(), refreshTokenSeconds }),
        ),
      ),
    }),
    activity: t.field({
      type: Activity,
      description: 'The recent activity of this node. Other nodes count their own.',
      args: {
        minutes: t.arg.int({
          required: true,
          defaultValue: maxMinutes,
          description: `The number of minutes, including the current one: 1 to ${maxMinutes}.`,
        }),
      },
      resolve: (_, { minutes }) => {
        if (minutes >= 1 && minutes <= maxMinutes) return { minutes };
        throw new Refusal('BAD_INPUT', `\`minutes\` must be from 1 to ${maxMinutes}.`);
      },
    }),
  }),
});

builder.queryField('server', (t) =>
  t.field({
    type: ServerInfo,
    description: 'The state of the server. Only for administrators.',
    resolve: (_, __, { access, server }) => {
      requireAdministrator(access);
      return server;
    },
  }),
);
