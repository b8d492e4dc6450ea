/** Values as JSON text. */

const needsNoEscape = /^[^"\\\x00-\x1f]*$/; // eslint-disable-line no-control-regex

/** The text in quotes. Most texts hold nothing that has to be escaped. */
export function quote(text: string): string {
  return needsNoEscape.test(text) && text.isWellFormed() ? `"${text}"` : JSON.stringify(text);
}

const msPerDay = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Writes instants as `Date.toISOString` does, in a tenth of its time: many folders of a page are of the same day. */
export class InstantWriter {
  #day = NaN;
  #dayText = '';

  write(milliseconds: number): string {
    const day = Math.floor(milliseconds / msPerDay);
    if (day !== this.#day) {
      this.#dayText = new Date(day * msPerDay).toISOString().slice(0, -'00:00:00.000Z'.length);
      this.#day = day;
    }
    const rest = milliseconds - day * msPerDay;
    const seconds = Math.floor(rest / 1_000);
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    const time = `${twoDigits[hours]!}:${twoDigits[minutes - hours * 60]!}:${twoDigits[seconds - minutes * 60]!}`;
    return `"${this.#dayText}${time}.${String(rest - seconds * 1_000).padStart(3, '0')}Z"`;
  }
}
