/** Something to look at for many who ask at the same time: there is one look for all of them. */

/** What was seen holds for so long after it; those who ask while it is looked at share the one look anyhow. */
export function sharedLook<T>(look: () => Promise<T>, holdsForMs = 0): () => Promise<T> {
  let seen: Promise<T> | undefined;
  let holdsUntil = -Infinity;
  return () => {
    if (seen && performance.now() < holdsUntil) return seen;
    holdsUntil = Infinity;
    return (seen = look().finally(() => (holdsUntil = performance.now() + holdsForMs)));
  };
}
