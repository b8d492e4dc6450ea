/** The settings of a server, by subject, and which of them are looked for. */

export interface Setting {
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  readonly accepts: string;
  readonly value: string | null;
  readonly default: string | null;
  readonly source: 'DEFAULT' | 'ENVIRONMENT' | 'FILE' | 'COMMAND_LINE';
  readonly givenBy: string | null;
  readonly isSecret: boolean;
}

export interface Subject {
  readonly name: string;
  readonly settings: readonly Setting[];
}

/** A secret differs as soon as it is given: nobody is told what it is. */
export function isDifferent({ isSecret, source, value, default: usual }: Setting): boolean {
  return isSecret ? source !== 'DEFAULT' : value !== usual;
}

/** In the order in which the server tells them. All words of the text must be somewhere in a setting. */
export function subjectsOf(
  settings: readonly Setting[],
  { text = '', isOnlyDifferent = false }: { readonly text?: string; readonly isOnlyDifferent?: boolean } = {},
): readonly Subject[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const subjects = new Map<string, Setting[]>();
  for (const setting of settings) {
    if (isOnlyDifferent && !isDifferent(setting)) continue;
    const { name, subject, description, value, givenBy } = setting;
    const held = [name, subject, description, value, givenBy].join(' ').toLowerCase();
    if (!words.every((word) => held.includes(word))) continue;
    const others = subjects.get(subject);
    if (others) others.push(setting);
    else subjects.set(subject, [setting]);
  }
  return [...subjects].map(([name, ofSubject]) => ({ name, settings: ofSubject }));
}

/** What holds, in a word or two where it is no value. */
export function valueText({ isSecret, value, source }: Setting): { text: string; isValue: boolean } {
  if (isSecret) return { text: source === 'DEFAULT' ? 'not set' : 'set, not shown', isValue: false };
  if (value === null) return { text: 'not set', isValue: false };
  return value === '' ? { text: 'empty', isValue: false } : { text: value, isValue: true };
}
