/** Groups and searches the settings of a server. */

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

/** Returns whether a setting differs from its default. A secret that is set counts as different, because the server never sends its value. */
export function isDifferent({ isSecret, source, value, default: defaultValue }: Setting): boolean {
  return isSecret ? source !== 'DEFAULT' : value !== defaultValue;
}

/** Keeps the server's order. Every word of the text must occur in a setting. */
export function groupSettings(
  settings: readonly Setting[],
  { text = '', isOnlyDifferent = false }: { readonly text?: string; readonly isOnlyDifferent?: boolean } = {},
): readonly Subject[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const subjects = new Map<string, Setting[]>();
  for (const setting of settings) {
    if (isOnlyDifferent && !isDifferent(setting)) continue;
    const { name, subject, description, value, givenBy } = setting;
    const searchableText = [name, subject, description, value, givenBy].join(' ').toLowerCase();
    if (!words.every((word) => searchableText.includes(word))) continue;
    const others = subjects.get(subject);
    if (others) others.push(setting);
    else subjects.set(subject, [setting]);
  }
  return [...subjects].map(([name, ofSubject]) => ({ name, settings: ofSubject }));
}

/** Returns the value, or a short description if there is none to show. */
export function formatValue({ isSecret, value, source }: Setting): { text: string; isValue: boolean } {
  if (isSecret) return { text: source === 'DEFAULT' ? 'not set' : 'set, not shown', isValue: false };
  if (value === null) return { text: 'not set', isValue: false };
  return value === '' ? { text: 'empty', isValue: false } : { text: value, isValue: true };
}
