/** Properties of a folder as edited rows or text, and their validation. */

import type { Properties } from '../current-folder.ts';

export type PropertyType = 'text' | 'number' | 'boolean' | 'null' | 'json';

export interface PropertyRow {
  /** Identifies the row while it is edited. */
  readonly key: number;
  readonly name: string;
  readonly type: PropertyType;
  /** The typed text. */
  readonly value: string;
}

/** The current input, which may be invalid. */
export type PropertiesEdit =
  | { readonly kind: 'rows'; readonly rows: readonly PropertyRow[] }
  | { readonly kind: 'json'; readonly text: string };

export interface RowProblem {
  readonly name?: string;
  readonly value?: string;
}

interface ValidatedProperties {
  /** Null if the input is invalid. */
  readonly properties: Properties | null;
  /** The problems of rows, by row key. */
  readonly rows: ReadonlyMap<number, RowProblem>;
  /** A problem of the whole input. */
  readonly problem?: string;
}

/** The limit of the server. */
const maxBytes = 16 * 1024;

export function toRows(properties: Properties): readonly PropertyRow[] {
  return Object.entries(properties).map(([name, value], key) => ({ key, name, ...toRowValue(value) }));
}

function toRowValue(value: unknown): Pick<PropertyRow, 'type' | 'value'> {
  if (value === null) return { type: 'null', value: '' };
  if (typeof value === 'string') return { type: 'text', value };
  if (typeof value === 'number') return { type: 'number', value: `${value}` };
  if (typeof value === 'boolean') return { type: 'boolean', value: `${value}` };
  return { type: 'json', value: JSON.stringify(value) };
}

export function newRow(rows: readonly PropertyRow[]): PropertyRow {
  return { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', type: 'text', value: '' };
}

/** Changes the type of a row. Converts its value where possible. */
export function changeType(row: PropertyRow, type: PropertyType): PropertyRow {
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
      const text = row.type === 'json' ? parseJson(value) : undefined;
      return { ...row, type, value: typeof text === 'string' ? text : value };
    }
  }
}

export function formatJson(properties: Properties): string {
  return JSON.stringify(properties, null, 2);
}

export function validate(edit: PropertiesEdit): ValidatedProperties {
  return edit.kind === 'json' ? validateText(edit.text) : validateRows(edit.rows);
}

/** Returns whether a row was added but not filled in. Such rows are left out. */
function isBlank({ name, type, value }: PropertyRow): boolean {
  return name === '' && type === 'text' && value === '';
}

function validateRows(allRows: readonly PropertyRow[]): ValidatedProperties {
  const problems = new Map<number, RowProblem>();
  const rows = allRows.filter((row) => !isBlank(row));
  const entries = rows.map((row): [string, unknown] => {
    const { key, name, type, value } = row;
    const isDuplicate = rows.some((other) => other.key < key && other.name === name);
    const nameProblem =
      name === '' ? 'Enter a name.' : isDuplicate ? 'This name is already used.' : undefined;
    const parsed = parseValue(type, value);
    if (nameProblem !== undefined || parsed.problem !== undefined) {
      problems.set(key, {
        ...(nameProblem !== undefined && { name: nameProblem }),
        ...(parsed.problem !== undefined && { value: parsed.problem }),
      });
    }
    return [name, parsed.value];
  });
  if (problems.size > 0) return { properties: null, rows: problems };
  return checkSize(Object.fromEntries(entries));
}

function parseValue(type: PropertyType, value: string): { value?: unknown; problem?: string } {
  switch (type) {
    case 'text':
      return { value };
    case 'null':
      return { value: null };
    case 'boolean':
      return { value: value === 'true' };
    case 'number': {
      const number = parseJson(value.trim());
      const isNumber = typeof number === 'number' && Number.isFinite(number);
      return isNumber ? { value: number } : { problem: 'Not a number.' };
    }
    case 'json': {
      const found = parseJson(value);
      return found === undefined ? { problem: 'Not valid JSON.' } : { value: found };
    }
  }
}

function validateText(text: string): ValidatedProperties {
  const none = { properties: null, rows: new Map<number, RowProblem>() };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { ...none, problem: `Not valid JSON: ${(error as Error).message}.` };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { ...none, problem: 'It must be an object: { "name": value }.' };
  }
  const duplicate = findDuplicateName(text);
  if (duplicate !== undefined) return { ...none, problem: `The name ${duplicate} appears twice.` };
  return checkSize(parsed as Properties);
}

function checkSize(properties: Properties): ValidatedProperties {
  const bytes = new TextEncoder().encode(JSON.stringify(properties)).length;
  const rows = new Map<number, RowProblem>();
  if (bytes <= maxBytes) return { properties, rows };
  const kib = (bytes / 1024).toFixed(1);
  return {
    properties: null,
    rows,
    problem: `The properties take ${kib} KiB as JSON. The maximum is 16 KiB.`,
  };
}

/** Finds a duplicate name in valid JSON, because `JSON.parse` silently keeps only the last of several values. */
function findDuplicateName(text: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)].map(([token]) => token);
  for (const [index, token] of tokens.entries()) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':' && tokens[index + 1] === ':') {
      const name = JSON.stringify(JSON.parse(token));
      if (open.at(-1)?.has(name)) return name;
      open.at(-1)?.add(name);
    }
  }
  return undefined;
}

/** Returns undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
