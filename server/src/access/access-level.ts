/** How much somebody may do with a folder. Each level includes those before it. */

export const accessLevels = { NONE: 0, READ: 1, WRITE: 2, MANAGE: 3 } as const;

export type AccessLevelName = keyof typeof accessLevels;
export type AccessLevel = (typeof accessLevels)[AccessLevelName];

const names = Object.keys(accessLevels) as AccessLevelName[];

export function accessLevelName(level: AccessLevel): AccessLevelName {
  return names[level]!;
}
