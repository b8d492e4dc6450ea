/** Sizes, numbers and hours, as people read them: a size never so rounded that what does not fit seems to. */

const kilobyte = 2 ** 10;
const megabyte = 2 ** 20;

/** What something takes, rather more than less. */
export function formatSize(bytes: number): string {
  return formatRounded(bytes, Math.ceil);
}

/** What is free, rather less than more. */
export function formatFreeSpace(bytes: number): string {
  return formatRounded(bytes, Math.floor);
}

function formatRounded(bytes: number, round: (number: number) => number): string {
  if (bytes < megabyte) return `${formatNumber(round(bytes / kilobyte))} kB`;
  if (bytes < 10 * megabyte) return `${formatNumber(round((bytes / megabyte) * 10) / 10)} MB`;
  return `${formatNumber(round(bytes / megabyte))} MB`;
}

/** One, or several, of what is counted: "1 folder", "2,000 folders". */
export function formatCount(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** How often something is done, by the hours in between. */
export function formatInterval(hours: number): string {
  return hours === 1 ? 'every hour' : `every ${hours} hours`;
}

function formatNumber(number: number): string {
  return number.toLocaleString('en');
}
