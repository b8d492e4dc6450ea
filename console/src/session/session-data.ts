/** Data kept outside of components, which must not outlive the session of its user. */

interface UserData {
  readonly clear: () => void;
  readonly listUnsaved: () => readonly string[];
}

const registered = new Set<UserData>();
let signOuts = 0;

/**
 * `clear` is called when the user signs out, or when another user signs in. `unsaved` names the data that would be lost.
 * Returns a function that removes the registration.
 */
export function onSignOut(clear: () => void, unsaved: () => readonly string[] = () => []): () => void {
  const data = { clear, listUnsaved: unsaved };
  registered.add(data);
  return () => registered.delete(data);
}

export function listUnsaved(): readonly string[] {
  return [...registered].flatMap((data) => data.listUnsaved());
}

/** Changes whenever a user has signed out or has been replaced. */
export function countSignOuts(): number {
  return signOuts;
}

/** Settles like `work`, unless the user has signed out in the meantime. Then it never settles. */
export function whileSignedIn<Value>(work: Promise<Value>): Promise<Value> {
  const before = signOuts;
  return new Promise((resolve, reject) => {
    const ifSignedIn =
      <Outcome>(settle: (outcome: Outcome) => void) =>
      (outcome: Outcome) =>
        signOuts === before && settle(outcome);
    work.then(ifSignedIn(resolve), ifSignedIn(reject));
  });
}

export function clearUserData(): void {
  signOuts++;
  for (const { clear } of [...registered]) clear();
}
