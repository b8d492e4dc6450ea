/** The texts and properties of a folder as options: --title, --property floor=2. */

import { UsageError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';

export const textOptions = {
  title: { value: 'text', about: 'What people call it' },
  icon: { value: 'text', about: 'An emoji, the name of a symbol, an address' },
  description: { value: 'text', about: 'A longer text' },
  property: {
    value: 'name=value',
    isRepeatable: true,
    about: 'A property; the value is JSON where it can be read as such, and a text otherwise',
  },
} as const satisfies Record<string, Option>;

/** name=value, the value read as JSON where it is some. */
export function toAssignments(given: readonly string[], flag: string): Record<string, unknown> {
  const pairs = given.map((each) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(each) ?? [];
    if (name === undefined) throw new UsageError(`--${flag} takes name=value, such as --${flag} floor=2.`);
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
