/** Formats the properties of one object, one per line, with their names. */

export type Fact = readonly [name: string, value: string];

export function facts(rows: readonly Fact[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${value || '-'}`).join('\n');
}
