/** Formats times for the operations screens. */

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** For example "14:02". */
export function formatClock(at: string): string {
  return clock.format(Date.parse(at));
}

/** For example "15 Nov 2026, 14:02:31". */
export function formatExact(at: string): string {
  return exact.format(Date.parse(at));
}
