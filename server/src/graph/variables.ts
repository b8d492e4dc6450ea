/** Variables are coerced by recursion, so how deep they are nested has a bound. How many there are has none here. */

export const mostVariableLevels = 300;

/** Copies nothing and calls nothing for plain values: an import may hold 100,000 folders. */
export function areNestedTooDeeply(variables: object, levelsLeft: number = mostVariableLevels): boolean {
  if (levelsLeft < 0) return true;
  if (Array.isArray(variables)) {
    for (const value of variables as unknown[]) {
      if (typeof value === 'object' && value !== null && areNestedTooDeeply(value, levelsLeft - 1))
        return true;
    }
    return false;
  }
  for (const name in variables) {
    const value = (variables as Record<string, unknown>)[name];
    if (typeof value === 'object' && value !== null && areNestedTooDeeply(value, levelsLeft - 1)) return true;
  }
  return false;
}
