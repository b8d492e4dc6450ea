/** Sizes, numbers and hours, as people read them: a size never so rounded that what does not fit seems to. */

const kilobyte = 2 ** 10;
const megabyte = 2 ** 20;

/** What something takes, rather more than less. */
export function shownSize(bytes: number): string {
  return rounded(bytes, Math.ceil);
}

/** What is free, rather less than more. */
export function shownRoom(bytes: number): string {
  return rounded(bytes, Math.floor);
}

function rounded(bytes: number, round: (number: number) => number): string {
  if (bytes < megabyte) return `${shownNumber(round(bytes / kilobyte))} kB`;
  if (bytes < 10 * megabyte) return `${shownNumber(round((bytes / megabyte) * 10) / 10)} MB`;
  return `${shownNumber(round(bytes / megabyte))} MB`;
}

/** One, or several, of what is counted: "1 folder", "2,000 folders". */
export function counted(number: number, one: string): string {
  return `${shownNumber(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** How often something is done, by the hours in between. */
export function everyHours(hours: number): string {
  return hours === 1 ? 'every hour' : `every ${hours} hours`;
}

function shownNumber(number: number): string {
  return number.toLocaleString('en');
}
