/** Formats sizes, counts and intervals for people. Rounding never makes a file seem to fit that does not. */

const kilobyte = 2 ** 10;
const megabyte = 2 ** 20;

/** Rounds up. */
export function formatSize(bytes: number): string {
  return formatRounded(bytes, Math.ceil);
}

/** Rounds down. */
export function formatFreeSpace(bytes: number): string {
  return formatRounded(bytes, Math.floor);
}

function formatRounded(bytes: number, round: (number: number) => number): string {
  if (bytes < megabyte) return `${formatNumber(round(bytes / kilobyte))} kB`;
  if (bytes < 10 * megabyte) return `${formatNumber(round((bytes / megabyte) * 10) / 10)} MB`;
  return `${formatNumber(round(bytes / megabyte))} MB`;
}

/** For example "1 folder" or "2,000 folders". */
export function formatCount(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** For example "every 6 hours". */
export function formatInterval(hours: number): string {
  return hours === 1 ? 'every hour' : `every ${hours} hours`;
}

function formatNumber(number: number): string {
  return number.toLocaleString('en');
}
