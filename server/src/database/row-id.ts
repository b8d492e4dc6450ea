/** Ids of rows. A database may keep them as text or as UUIDs: it is never asked for what cannot be one. */

/** Ids are compared as they are written: anything but the canonical form names nothing. */
export function isRowId(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}

/** Ids that no row has: in their order, before and after all others. */
export const nobodysId = '00000000-0000-0000-0000-000000000000';
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
