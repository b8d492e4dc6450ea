/** The roles of a user as commands print them. */

interface Roles {
  readonly kind: 'PERSON' | 'SERVICE';
  /** Missing if the caller may not read it. */
  readonly isAdministrator?: boolean;
}

/** Returns an empty text for a person who is not an administrator. */
export function describeRoles({ kind, isAdministrator }: Roles): string {
  const roles = [kind === 'SERVICE' && 'service account', isAdministrator && 'administrator'];
  return roles.filter(Boolean).join(', ');
}
