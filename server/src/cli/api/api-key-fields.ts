/** API keys as commands read and describe them. */

import { escaped, toMinute } from '../terminal/output.ts';
import type { NamedFolder, NamedUser } from './resolve-names.ts';

export interface ApiKeyDetails {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly user: NamedUser;
  readonly level: string;
  readonly isAdministrator: boolean;
  readonly folderId: string | null;
  /** Null if the key has no folder, or if you do not see the folder. */
  readonly folder: NamedFolder | null;
  readonly networks: readonly string[];
  readonly state: 'ACTIVE' | 'EXPIRED' | 'REVOKED';
  readonly createdAt: string;
  readonly createdBy: NamedUser | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly lastUsedAddress: string | null;
  readonly isCurrent: boolean;
}

export const apiKeyFields = `id name start user { id username } level isAdministrator folderId folder { id path } networks state
  createdAt createdBy { id username } expiresAt revokedAt lastUsedAt lastUsedAddress isCurrent`;

/** What the key can do at most, for example `WRITE in /Places`. */
export function describeRights({ level, isAdministrator, folder, folderId }: ApiKeyDetails): string {
  if (isAdministrator) return 'administrator';
  return folderId === null ? level : `${level} in ${describeFolder({ folder, folderId })}`;
}

function describeFolder({ folder, folderId }: Pick<ApiKeyDetails, 'folder' | 'folderId'>): string {
  return folder?.path ?? `id:${folderId}`;
}

export function describeExpiry({ expiresAt }: Pick<ApiKeyDetails, 'expiresAt'>): string {
  return expiresAt === null ? 'never' : `${toMinute(expiresAt)} UTC`;
}

/** One sentence about the key, without the key itself. */
export function describeApiKey(key: ApiKeyDetails): string {
  const networks = key.networks.length > 0 ? `, only from ${key.networks.join(', ')}` : '';
  const expiry = key.expiresAt === null ? 'never expires' : `expires on ${describeExpiry(key)}`;
  return escaped`API key ${key.name} (${key.start}…): ${describeRights(key)}${networks}. It ${expiry}.`;
}
