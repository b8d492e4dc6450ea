/** Creates the page of all settings from the tables of the server, and adds advice on when to change each setting. */

import { environmentName, flagsOf } from '../../server/src/config/read-setting.ts';
import { settingGroups, type Settings } from '../../server/src/config/settings-table.ts';
import type { Setting } from '../../server/src/config/setting.ts';

export type SettingGroups = Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>>;

const queryAdvice = 'Raise it if your own clients receive `TOO_EXPENSIVE` for queries that you cannot split.';
const keepDefault = 'Usually, keep the default.';

/** When to change a setting, with an example if the value is not obvious. */
const advice: Readonly<Record<keyof Settings, string>> = {
  host: 'Set it to `0.0.0.0` or `::` if clients on other machines connect directly, for example in a container.',
  port: 'Set it if another program uses the port.',
  workers:
    'Set it to the number of free cores if one core is busy all the time. For example, use 4 on a machine with five cores, and keep one core for other programs.',
  basePath:
    'Set it if your proxy serves other applications on the same host. For example, with `/tree`, the login is at `/tree/login`.',
  publicUrl:
    'Set it before you configure single sign-on or passkeys, for example to `https://tree.example.com`. If you change it later, existing passkeys no longer work.',
  tlsCertFile:
    'Set it if no proxy terminates TLS in front of the server, for example to `/etc/espalier/fullchain.pem`.',
  tlsKeyFile: 'Set it together with `ESPALIER_TLS_CERT_FILE`, for example to `/etc/espalier/privkey.pem`.',
  trustProxy:
    'Set it if a proxy is in front of the server. For example, use `127.0.0.1` for nginx on the same machine. Without this setting, all clients seem to have the address of the proxy, so that failed logins of one client slow down all others.',
  corsOrigins:
    'Set it if your single-page app and the server have different origins. For example, use `https://app.example.com` or `http://localhost:5173`.',
  console: 'Turn it off if your users need only the API.',
  stopSeconds:
    'Raise it if a restart must not abort long imports. Your supervisor must wait longer than this before it kills the server. For example, Kubernetes waits for 30 seconds by default.',
  stopDelaySeconds: 'Set it if a load balancer checks `/readyz`.',
  databaseUrl:
    'Set it to store the data elsewhere, for example in `sqlite:/var/lib/espalier/espalier.db` or `postgres://espalier:secret@db.example.com/espalier`.',
  databaseConnections:
    'Lower it if all nodes and workers together open more connections than PostgreSQL allows (`max_connections`).',
  databasePoolMode:
    'Set it to `transaction` if you connect through PgBouncer with `pool_mode = transaction`.',
  databaseTimeoutSeconds: 'Raise it if large imports or exports fail on a slow database.',
  trashDays:
    'Raise it to keep deleted folders longer. With 0, the server purges a deleted folder within a short time.',
  journalDays: 'Raise it if you need the history of older changes. The database grows with the journal.',
  journalEntries:
    'Raise it together with `ESPALIER_JOURNAL_DAYS` if you have more than about 10,000 changes a day.',
  signInDays:
    'Raise it if you must be able to examine older sign-ins. Lower it if you may store addresses only for a shorter time.',
  backupFolder: 'Set it in production, for example to `/backup/espalier`.',
  backupEveryHours:
    'Lower it if you cannot afford to lose the changes of a whole day. For example, use 1 for a backup every hour.',
  backupKeep:
    'Raise it to be able to restore an older state. For example, use 30 for a month of daily backups.',
  authTokenSeconds:
    'Lower it if a logout must take effect sooner: an auth token stays valid after a logout until it expires.',
  refreshTokenSeconds: 'Lower it if unused sessions must end sooner. For example, use 604800 for one week.',
  reuseToleranceSeconds:
    'Lower it to detect stolen refresh tokens earlier. Raise it if clients on a bad network lose their session.',
  refreshRetrySeconds:
    'Set it if clients often lose the response to a refresh, for example to 30 for mobile networks.',
  maxSessionsPerUser: 'Set it if each user may be logged in on only a few devices.',
  issuer:
    'Set it if other services verify auth tokens and expect a URL, for example `https://tree.example.com`.',
  audience:
    'Set it if your services expect the same audience from several issuers, for example `https://api.example.com`.',
  keyRotationDays: keepDefault,
  masterKey: 'Set it if you use PostgreSQL, or if you store backups on another machine.',
  introspectionClient:
    'Set it if another service asks the server to check auth tokens, instead of verifying them with the public keys.',
  loginThrottle: keepDefault,
  passwordLogin:
    'Set it to `administrators` if all other users sign in with single sign-on. An administrator can then still log in if the provider is down.',
  ssoIssuer:
    'Set it to let users sign in with the accounts of your organization. See [Single sign-on](../operators/single-sign-on.md).',
  ssoClientId: 'Set it together with `ESPALIER_SSO_ISSUER`.',
  ssoClientSecret: 'Set it if the provider issued a secret for this client.',
  ssoName: 'Set it to a name that your users know, for example `Keycloak` or the name of your organization.',
  ssoScopes:
    'Add the scopes that your provider requires for the groups claim and for refresh tokens, for example `groups` and `offline_access`.',
  ssoUsernameClaim: 'Set it if the provider sends no `preferred_username`, for example to `email`.',
  ssoCreateUsers:
    'Turn it on if everyone who may use the client at the provider may use this server. The provider then decides who that is.',
  ssoGroupsClaim: 'Set it if the provider uses another claim, for example `roles`.',
  ssoGroups: 'Set it if the provider manages who belongs to which group.',
  ssoRecheckMinutes:
    'Lower it if a user who is disabled at the provider must lose access sooner, and the provider does not support back-channel logout.',
  secondFactor:
    'Set it to `administrators` if the accounts of administrators need more protection than a password. See [Second factors](../administrators/second-factor.md).',
  maxQueryCharacters: queryAdvice,
  maxQueryTokens: queryAdvice,
  maxFields: queryAdvice,
  maxDepth: queryAdvice,
  maxFolders:
    'Raise it if clients must read more folders in one response. If possible, let them read pages with `first` and `after` instead.',
  maxValues: 'Raise it together with `ESPALIER_MAX_FOLDERS`.',
  maxTextBytes: 'Raise it if clients must read many long descriptions or properties in one response.',
  maxPageSize: 'Lower it to make clients use smaller pages.',
  maxScanned: 'Raise it if a tree has more than two million folders and users search all of it.',
  maxExportFolders: 'Raise it to export a larger tree in one request.',
  maxImportFolders:
    'Raise it to import a larger tree in one request. The limit of 32 MiB for the request body does not change.',
  maxSubscriptions: 'Raise it if one web page opens more than 100 subscriptions on its socket.',
  maxConnections: 'Raise it if one user, for example a service account, opens many sockets.',
  maxBacklog: 'Raise it if clients receive `RESYNC` after short interruptions.',
  metricsPort: 'Set it if you monitor the server, for example to 9464.',
  metricsHost: 'Set it if Prometheus runs on another machine.',
  tracesUrl: 'Set it if you have an OpenTelemetry collector, for example to `http://127.0.0.1:4318`.',
  tracesShare: 'Lower it if the server has many requests. For example, use 0.01 for one in a hundred.',
  tracesHeaders:
    'Set it if the collector requires authentication, for example to `authorization=Bearer%20secret`.',
  adminUsername: 'Set it before the first start if you want a name other than `admin`.',
  adminPassword: 'Set it before the first start if a script installs the server.',
  demo: 'Set it to try the server without your own folders.',
  logLevel: 'Use `warn` to log no requests, or `debug` to find the cause of a problem.',
};

export function createConfigurationReference(all: SettingGroups = settingGroups): string {
  const groups = Object.entries(all).map(
    ([title, settings]) =>
      `## ${title}\n\n${Object.entries(settings)
        .map(([key, setting]) => formatSetting(setting, advice[key as keyof Settings]))
        .join('\n')}`,
  );
  return `<!-- Made by npm run generate. -->

# Configuration

Find the settings of the server, their defaults, and when to change them. Each setting is an environment variable and a flag of \`espalier serve\`.
For example, each of these commands starts the server on port 9000:

\`\`\`sh
ESPALIER_PORT=9000 espalier serve
espalier serve --port 9000
\`\`\`

- If you set both the variable and the flag, the server uses the flag. An empty variable counts as not set.
- A change takes effect when you restart the server. \`espalier doctor\` checks your settings without a restart.
- If a value is invalid, the server does not start and prints the accepted values. The server warns you about unknown \`ESPALIER_…\` variables, and
  about settings that have no effect, for example \`ESPALIER_METRICS_HOST\` without \`ESPALIER_METRICS_PORT\`.
- The server can read some settings from a file. For example, set \`ESPALIER_MASTER_KEY_FILE=/etc/espalier/master-key\`, or use the flag
  \`--master-key-file\`. The value of a secret cannot be passed as a flag, because other users of the machine can see flags in the process list.

${groups.join('\n')}`;
}

function formatSetting(setting: Setting<unknown>, whenToChange: string | undefined): string {
  const name = environmentName(setting);
  const flags = flagsOf(setting).map((flag) => `\`--${flag}\``);
  const facts = [
    `- Default: ${setting.default ? `\`${setting.default}\`` : 'none'}`,
    `- Accepts: ${setting.accepts}`,
    `- Flag: ${flags.join(' or ')}`,
    ...(setting.mayBeFile ? [`- File with the value: \`${name}_FILE\``] : []),
  ];
  return `### ${name}

${[setting.about, whenToChange].filter(Boolean).join('\n\n')}

${facts.join('\n')}
`;
}
