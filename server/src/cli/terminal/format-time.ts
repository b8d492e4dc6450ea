/** Formats times for people, in UTC. --json prints times unchanged. */

/** `2026-11-15 16:50` */
export function toMinute(at: string | null): string {
  return at === null ? '' : at.slice(0, 16).replace('T', ' ');
}

/** `2026-11-15 16:50:07` */
export function toSecond(at: string | null): string {
  return at === null ? '' : at.slice(0, 19).replace('T', ' ');
}
