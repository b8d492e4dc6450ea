/** The rights of a viewer that changes of accounts are judged by. */

import { Refusal } from '../refusal.ts';

export interface ViewerRights {
  readonly userId: string;
  readonly isAdministrator: boolean;
}

export function requireAdministrator({ isAdministrator }: Pick<ViewerRights, 'isAdministrator'>): void {
  if (!isAdministrator) throw new Refusal('FORBIDDEN', 'Only administrators may do this.');
}
