/** What is known of one thing: a line each, with its name before it. */

export type Fact = readonly [name: string, value: string];

export function facts(rows: readonly Fact[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${value || '-'}`).join('\n');
}
