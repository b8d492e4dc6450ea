/** Applies the groups of a person at the provider to the user: memberships and the administrator role, as the setting maps them. */

import { readGroupByName, setMemberships } from '../../accounts/groups.ts';
import { hasOtherAdministrator, requireUser, updateUser } from '../../accounts/users.ts';
import type { GroupMapping } from '../../config/sign-in-settings.ts';
import type { Transaction } from '../../database/database.ts';
import type { ChangeOrigin } from '../../journal/journal.ts';

/** Only groups and roles that the setting names change. Returns warnings for the log. */
export async function synchronizeGroups(
  transaction: Transaction,
  userId: string,
  { groups, mappings }: { readonly groups: readonly string[]; readonly mappings: readonly GroupMapping[] },
  by: ChangeOrigin,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  const memberships = new Map<string, boolean>();
  const memberOf = new Set(groups);
  for (const { providerGroup, target } of mappings) {
    if (target === 'administrators') continue;
    const group = await readGroupByName(transaction, target.group);
    if (!group) {
      warnings.push(
        `ESPALIER_SSO_GROUPS names the group ${JSON.stringify(target.group)}, which does not exist.`,
      );
      continue;
    }
    // Several groups of the provider can map to one group.
    memberships.set(group.id, memberships.get(group.id) === true || memberOf.has(providerGroup));
  }
  await setMemberships(transaction, userId, memberships, by);
  warnings.push(...(await synchronizeRole(transaction, userId, mappings, memberOf, by)));
  return warnings;
}

async function synchronizeRole(
  transaction: Transaction,
  userId: string,
  mappings: readonly GroupMapping[],
  memberOf: ReadonlySet<string>,
  by: ChangeOrigin,
): Promise<readonly string[]> {
  const roleMappings = mappings.filter(({ target }) => target === 'administrators');
  if (roleMappings.length === 0) return [];
  const isAdministrator = roleMappings.some(({ providerGroup }) => memberOf.has(providerGroup));
  const user = await requireUser(transaction, userId);
  if (user.isAdministrator === isAdministrator) return [];
  // Otherwise a wrong mapping could leave the server without an administrator who can log in.
  if (!isAdministrator && !(await hasOtherAdministrator(transaction, userId))) {
    return [
      `The user ${JSON.stringify(user.username)} is in no administrator group of the provider, but stays an administrator, because no other person is one.`,
    ];
  }
  await updateUser(transaction, userId, { isAdministrator }, by);
  return [];
}
