/** What an auth token says, to whom it is given alone; whether it is good, the server knows. */

interface Claims {
  /** Whose it is. */
  readonly sub?: string;
  /** When it ends, in seconds, by the clock of the server. */
  readonly exp?: number;
}

/** Empty if it cannot be read. */
export function claimsOf(authToken = ''): Claims {
  try {
    const claims = atob((authToken.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return JSON.parse(claims) as Claims;
  } catch {
    return {};
  }
}
