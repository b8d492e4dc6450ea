/** What is kept beside the components, and must not outlive whoever it is of. */

interface Kept {
  readonly forget: () => void;
  readonly unsaved: () => readonly string[];
}

const all = new Set<Kept>();
let leaves = 0;

/**
 * `forget` is called when somebody signs out, or somebody else is signed in; `unsaved` says by name what would be lost then.
 * Answers with how to stop.
 */
export function onSignOut(forget: () => void, unsaved: Kept['unsaved'] = () => []): () => void {
  const kept = { forget, unsaved };
  all.add(kept);
  return () => all.delete(kept);
}

export function listUnsaved(): readonly string[] {
  return [...all].flatMap(({ unsaved }) => unsaved());
}

/** Another number than before if somebody has left since. */
export function countSignOuts(): number {
  return leaves;
}

/** What whoever is here waits for. Once they have left it is never told, and what waits for it goes on for nobody. */
export function whileSignedIn<Value>(work: Promise<Value>): Promise<Value> {
  const before = leaves;
  return new Promise((resolve, reject) => {
    const only =
      <Told>(tell: (told: Told) => void) =>
      (told: Told) =>
        leaves === before && tell(told);
    work.then(only(resolve), only(reject));
  });
}

export function clearUserData(): void {
  leaves++;
  for (const { forget } of [...all]) forget();
}
