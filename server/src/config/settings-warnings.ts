/** Warnings about valid but risky settings, at each start and in `espalier doctor`. */

import { isIPv4 } from 'node:net';
import { availableParallelism } from 'node:os';
import { isLoopbackHost } from './setting.ts';
import type { Settings } from './settings-table.ts';

/** Returns the warnings that need no database. */
export function findSettingWarnings(settings: Settings): string[] {
  const find = [
    exposureWarning,
    databaseLinkWarning,
    metricsExposureWarning,
    tooManyWorkersWarning,
    trustedProxyWarning,
    passwordLoginWarning,
    linkingWarning,
  ];
  return find.map((each) => each(settings)).filter((text) => text !== undefined);
}

/** Without TLS, passwords and tokens cross the network unprotected. */
function exposureWarning({ host, tlsCertFile, trustProxy }: Settings): string | undefined {
  if (isLoopbackHost(host) || tlsCertFile || trustProxy !== false) return undefined;
  return `Listening on ${host} without TLS: passwords and tokens cross the network unprotected. Set ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE, or put a TLS proxy in front and set ESPALIER_TRUST_PROXY.`;
}

/** A trusted proxy may claim any client address: it can evade the login throttle and lock out other clients. */
export function trustedProxyWarning({ trustProxy }: Settings): string | undefined {
  const advice =
    'can forge X-Forwarded-For, evade the login throttle and lock out others. List the addresses of your proxies, or ranges no wider than /24 (IPv4) or /64 (IPv6).';
  if (trustProxy === true) return `ESPALIER_TRUST_PROXY is true: every client ${advice}`;
  const wide = Array.isArray(trustProxy) ? trustProxy.filter(isWideRange) : [];
  if (wide.length === 0) return undefined;
  return `ESPALIER_TRUST_PROXY trusts ${wide.join(', ')}: every machine in that range ${advice}`;
}

/** Wider than one subnet. Loopback is one machine, however many addresses it has. */
function isWideRange(range: string): boolean {
  if (range === 'linklocal' || range === 'uniquelocal') return true;
  const [address = '', bits] = range.split('/');
  if (bits === undefined) return false;
  if (isIPv4(address)) return Number(bits) < (address.startsWith('127.') ? 8 : 24);
  return Number(bits) < (/^::ffff:/i.test(address) ? 96 + 24 : 64);
}

/** Metrics contain no secrets, but they reveal the load and the errors of the server. */
function metricsExposureWarning({ metricsHost, metricsPort }: Settings): string | undefined {
  if (metricsPort === undefined || isLoopbackHost(metricsHost)) return undefined;
  return `Metrics are served on ${metricsHost} to every client that can reach the port. Restrict the port to Prometheus.`;
}

/** The connection carries the password of the database and all data. */
function databaseLinkWarning({ databaseUrl }: Settings): string | undefined {
  if (!URL.canParse(databaseUrl)) return undefined;
  const { hostname, searchParams } = new URL(databaseUrl);
  const isExplicit = searchParams.has('sslmode') || searchParams.has('ssl');
  if (!hostname || isLoopbackHost(hostname) || isExplicit) return undefined;
  return `The connection to the database at ${hostname} is not encrypted. Add ?sslmode=verify-full to its URL, or sslmode=disable if this is intended.`;
}

/** Only the owner can read a database file, but a database server may have more users. */
export function unsealedWarning({ databaseUrl, masterKey }: Settings): string | undefined {
  if (masterKey !== undefined || databaseUrl.startsWith('sqlite:')) return undefined;
  return "The private signing keys are stored unencrypted: anyone who can read the database or a backup can create tokens. Set ESPALIER_MASTER_KEY_FILE on every node. To create a key, run 'openssl rand -base64 32'.";
}

/** Without a password and a provider, users need a passkey. */
function passwordLoginWarning({ passwordLogin, ssoIssuer }: Settings): string | undefined {
  if (passwordLogin === 'on' || ssoIssuer !== undefined) return undefined;
  const users = passwordLogin === 'off' ? 'Users' : 'Users who are not administrators';
  return `ESPALIER_PASSWORD_LOGIN is ${passwordLogin}, and single sign-on is not configured. ${users} cannot sign in without a passkey. Set ESPALIER_SSO_ISSUER, or set ESPALIER_PASSWORD_LOGIN=on.`;
}

/** To link their account, users must first sign in without single sign-on. */
function linkingWarning({ passwordLogin, ssoIssuer, ssoCreateUsers }: Settings): string | undefined {
  if (ssoIssuer === undefined || ssoCreateUsers || passwordLogin !== 'off') return undefined;
  return 'ESPALIER_PASSWORD_LOGIN and ESPALIER_SSO_CREATE_USERS are off: users who have not linked their account yet cannot sign in. Set ESPALIER_SSO_CREATE_USERS=on, or allow passwords.';
}

/** More workers than cores only wait for each other. */
export function tooManyWorkersWarning(
  { workers }: Settings,
  cores = availableParallelism(),
): string | undefined {
  if (workers <= cores) return undefined;
  return `ESPALIER_WORKERS is ${workers}, but this machine has only ${cores} cores. More workers than cores use memory without being faster.`;
}
