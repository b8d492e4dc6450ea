/** Properties as people edit them, in rows or as text, and as the JSON object that they are. Pure. */

import type { Properties } from '../open-folder.ts';

export type PropertyType = 'text' | 'number' | 'boolean' | 'null' | 'json';

export interface PropertyRow {
  /** Of this row while it is edited. */
  readonly key: number;
  readonly name: string;
  readonly type: PropertyType;
  /** As it is typed. */
  readonly value: string;
}

/** What is being edited; it need not be right yet. */
export type PropertiesEdit =
  | { readonly kind: 'rows'; readonly rows: readonly PropertyRow[] }
  | { readonly kind: 'json'; readonly text: string };

export interface RowProblem {
  readonly name?: string;
  readonly value?: string;
}

export interface Judged {
  /** Null while something is wrong. */
  readonly properties: Properties | null;
  /** By the key of the row. */
  readonly rows: ReadonlyMap<number, RowProblem>;
  /** About all of it. */
  readonly problem?: string;
}

/** As the server takes them at most. */
export const mostBytes = 16 * 1024;

export function rowsOf(properties: Properties): readonly PropertyRow[] {
  return Object.entries(properties).map(([name, value], key) => ({ key, name, ...valueOf(value) }));
}

function valueOf(value: unknown): Pick<PropertyRow, 'type' | 'value'> {
  if (value === null) return { type: 'null', value: '' };
  if (typeof value === 'string') return { type: 'text', value };
  if (typeof value === 'number') return { type: 'number', value: `${value}` };
  if (typeof value === 'boolean') return { type: 'boolean', value: `${value}` };
  return { type: 'json', value: JSON.stringify(value) };
}

export function newRow(rows: readonly PropertyRow[]): PropertyRow {
  return { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', type: 'text', value: '' };
}

/** Keeps of the value what the other type can hold. */
export function withType(row: PropertyRow, type: PropertyType): PropertyRow {
  const { value } = row;
  switch (type) {
    case 'boolean':
      return { ...row, type, value: value === 'true' ? 'true' : 'false' };
    case 'null':
      return { ...row, type, value: '' };
    case 'json':
      return { ...row, type, value: row.type === 'text' || value === '' ? JSON.stringify(value) : value };
    case 'number':
      return { ...row, type, value };
    case 'text': {
      const text = row.type === 'json' ? parsed(value) : undefined;
      return { ...row, type, value: typeof text === 'string' ? text : value };
    }
  }
}

export function textOf(properties: Properties): string {
  return JSON.stringify(properties, null, 2);
}

export function judge(edit: PropertiesEdit): Judged {
  return edit.kind === 'json' ? judgeText(edit.text) : judgeRows(edit.rows);
}

function judgeRows(rows: readonly PropertyRow[]): Judged {
  const problems = new Map<number, RowProblem>();
  const entries = rows.map((row): [string, unknown] => {
    const { key, name, type, value } = row;
    const isTwice = rows.some((other) => other.key < key && other.name === name);
    const nameProblem = name === '' ? 'Give it a name.' : isTwice ? 'This name is there twice.' : undefined;
    const read = readValue(type, value);
    if (nameProblem !== undefined || read.problem !== undefined) {
      problems.set(key, {
        ...(nameProblem !== undefined && { name: nameProblem }),
        ...(read.problem !== undefined && { value: read.problem }),
      });
    }
    return [name, read.value];
  });
  if (problems.size > 0) return { properties: null, rows: problems };
  return sized(Object.fromEntries(entries));
}

function readValue(type: PropertyType, value: string): { value?: unknown; problem?: string } {
  switch (type) {
    case 'text':
      return { value };
    case 'null':
      return { value: null };
    case 'boolean':
      return { value: value === 'true' };
    case 'number': {
      const number = parsed(value.trim());
      const isNumber = typeof number === 'number' && Number.isFinite(number);
      return isNumber ? { value: number } : { problem: 'Not a number.' };
    }
    case 'json': {
      const found = parsed(value);
      return found === undefined ? { problem: 'Not JSON.' } : { value: found };
    }
  }
}

function judgeText(text: string): Judged {
  const none = { properties: null, rows: new Map<number, RowProblem>() };
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    return { ...none, problem: `Not JSON: ${(error as Error).message}.` };
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    return { ...none, problem: 'It must be an object: { "name": value }.' };
  }
  const twice = nameTwice(text);
  if (twice !== undefined) return { ...none, problem: `The name ${twice} is there twice.` };
  return sized(found as Properties);
}

function sized(properties: Properties): Judged {
  const bytes = new TextEncoder().encode(JSON.stringify(properties)).length;
  const rows = new Map<number, RowProblem>();
  if (bytes <= mostBytes) return { properties, rows };
  const kib = (bytes / 1024).toFixed(1);
  return { properties: null, rows, problem: `They take ${kib} KiB as JSON; at most 16 KiB are kept.` };
}

/** JSON.parse would keep the last of them without a word. The text is known to be JSON. */
function nameTwice(text: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)].map(([token]) => token);
  for (const [at, token] of tokens.entries()) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':' && tokens[at + 1] === ':') {
      const name = JSON.stringify(JSON.parse(token));
      if (open.at(-1)?.has(name)) return name;
      open.at(-1)?.add(name);
    }
  }
  return undefined;
}

/** Undefined if it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
