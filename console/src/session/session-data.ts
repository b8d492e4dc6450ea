/** User data that is kept outside of components. It must not outlive the session of the user. */

interface UserData {
  readonly clear: () => void;
  readonly listUnsaved: () => readonly string[];
}

const registrations = new Set<UserData>();
let signOutCount = 0;

/**
 * `clear` is called when the user signs out, or when another user signs in. `unsaved` names the data that would be lost.
 * Returns a function that removes the registration.
 */
export function onSignOut(clear: () => void, unsaved: () => readonly string[] = () => []): () => void {
  const data = { clear, listUnsaved: unsaved };
  registrations.add(data);
  return () => registrations.delete(data);
}

export function listUnsaved(): readonly string[] {
  return [...registrations].flatMap((data) => data.listUnsaved());
}

/** Increases when the user signs out, or when another user signs in. */
export function getSignOutCount(): number {
  return signOutCount;
}

/** Settles like `work`, unless the user has signed out in the meantime. Then it never settles. */
export function whileSignedIn<Value>(work: Promise<Value>): Promise<Value> {
  const before = signOutCount;
  return new Promise((resolve, reject) => {
    const ifSignedIn =
      <Outcome>(settle: (outcome: Outcome) => void) =>
      (outcome: Outcome) =>
        signOutCount === before && settle(outcome);
    work.then(ifSignedIn(resolve), ifSignedIn(reject));
  });
}

export function clearUserData(): void {
  signOutCount++;
  for (const { clear } of [...registrations]) clear();
}
