/** Options of several commands about folders: the texts and properties, such as --property floor=2, and file formats. */

import { UsageError, invalidValue } from '../../config/start-error.ts';
import type { FileFormat } from '@espalier/client/files';
import type { Options } from '../command.ts';

/** The formats of the client. They are repeated here, because the client is loaded only when a file is read or written. */
export const fileFormats = ['csv', 'json', 'ndjson'] as const satisfies readonly FileFormat[];

export function unknownFormatError(name: string): UsageError {
  return new UsageError(
    `Cannot determine the format of ${name}. Use --format with one of ${fileFormats.join(', ')}.`,
  );
}

export const textOptions = {
  title: { value: 'text', about: 'The title to display' },
  icon: { value: 'text', about: 'An emoji, the name of a symbol or a URL' },
  description: { value: 'text', about: 'A longer description' },
  property: {
    value: 'name=value',
    isRepeatable: true,
    about: 'Set a property; the value is JSON if it can be parsed, otherwise text',
  },
} as const satisfies Options;

/** Parses name=value. The value is JSON if it can be parsed, otherwise text. */
export function toAssignments(input: readonly string[], flag: string): Record<string, unknown> {
  const pairs = input.map((each) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(each) ?? [];
    if (name === undefined) throw invalidValue(`--${flag}`, 'name=value, such as floor=2');
    return [name, jsonOrText(value!)] as const;
  });
  return Object.fromEntries(pairs);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
