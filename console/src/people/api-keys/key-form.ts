/** The input of the dialog that creates an API key. */

import type { KeyLevel, NewApiKey } from '../../actions/api-key-actions.ts';
import type { PickedFolder } from '../../tree/search/folder-picker.tsx';

export interface KeyForm {
  readonly name: string;
  readonly level: KeyLevel;
  readonly isAdministrator: boolean;
  readonly scope: 'all' | 'one';
  readonly folder: PickedFolder | null;
  readonly expiry: (typeof expiryOptions)[number]['id'];
  /** For `date`: an instant in ISO format. */
  readonly expiresAt: string | undefined;
  /** One network per line. */
  readonly networks: string;
}

const daysOf = { days30: 30, days90: 90, days365: 365 } as const;

export const expiryOptions = [
  { id: 'days30', label: 'In 30 days' },
  { id: 'days90', label: 'In 90 days' },
  { id: 'days365', label: 'In 365 days' },
  { id: 'date', label: 'On a date' },
  { id: 'never', label: 'Never' },
] as const;

export const initialKeyForm: KeyForm = {
  name: '',
  level: 'READ',
  isAdministrator: false,
  scope: 'all',
  folder: null,
  expiry: 'days90',
  expiresAt: undefined,
  networks: '',
};

const dayMs = 86_400_000;

/** Undefined if the key never expires, and while no date is chosen. */
export function expiryOf({ expiry, expiresAt }: KeyForm, now: number): string | undefined {
  if (expiry === 'never') return undefined;
  if (expiry === 'date') return expiresAt;
  return new Date(now + daysOf[expiry] * dayMs).toISOString();
}

export function isComplete({ name, isAdministrator, scope, folder, expiry, expiresAt }: KeyForm): boolean {
  const hasFolder = isAdministrator || scope === 'all' || folder !== null;
  return name.trim() !== '' && hasFolder && (expiry !== 'date' || expiresAt !== undefined);
}

/** A key that acts as administrator has the level MANAGE on every folder. */
export function toNewApiKey(form: KeyForm, userId: string | undefined, now: number): NewApiKey {
  const { name, level, isAdministrator, scope, folder } = form;
  const expiresAt = expiryOf(form, now);
  const networks = form.networks
    .split(/\s*[\n,]\s*/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return {
    ...(userId !== undefined && { userId }),
    name,
    level: isAdministrator ? 'MANAGE' : level,
    ...(isAdministrator && { isAdministrator }),
    ...(!isAdministrator && scope === 'one' && folder && { folderId: folder.id }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(networks.length > 0 && { networks }),
  };
}
