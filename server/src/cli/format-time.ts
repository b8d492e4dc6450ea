/** Times for people, in UTC as the headings say; programs read them from --json as they are. */

/** `2026-11-15 16:50` */
export function toMinute(at: string | null): string {
  return at === null ? '' : at.slice(0, 16).replace('T', ' ');
}

/** `2026-11-15 16:50:07` */
export function toSecond(at: string | null): string {
  return at === null ? '' : at.slice(0, 19).replace('T', ' ');
}
