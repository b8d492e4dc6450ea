/** What can be done, as data: one mutation each, with how the command line says the same. */

export interface Action<Variables extends object = object, Result = unknown> {
  /** As on a button: "Rename folder". */
  readonly label: string;
  readonly document: string;
  /** The words after `espalier`; where there are none for it, `espalier query` does the same. */
  cliArguments?(variables: Variables): readonly string[] | undefined;
  /** The fields of the input that are never written anywhere. */
  readonly secrets?: readonly string[];
  /** Never set: ties the type of the answer to the action. */
  readonly result?: Result;
}

/** An action with what it is done with. */
export interface Call<Variables extends object = object, Result = unknown> {
  readonly action: Action<Variables, Result>;
  readonly variables: Variables;
}

export type CopyForm = 'graphql' | 'curl' | 'cli';

/** The same in another language, to be pasted elsewhere. No token and no password is in it. */
export function formatCall(form: CopyForm, { action, variables }: Call, apiUrl: string): string {
  const shown = withoutSecrets(variables, action.secrets ?? []);
  const document = trimmed(action.document);
  switch (form) {
    case 'graphql':
      return Object.keys(shown).length === 0
        ? document
        : `${document}\n\n# Variables\n${commented(JSON.stringify(shown, null, 2))}`;
    case 'curl': {
      const body = JSON.stringify({ query: inOneLine(document), variables: shown });
      return [
        `curl ${quoteForShell(`${apiUrl}/graphql`)} \\`,
        ...(isSubscription(document) ? ["  -N -H 'Accept: text/event-stream' \\"] : []),
        '  -H "Authorization: Bearer $ESPALIER_AUTH_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${quoteForShell(body)}`,
      ].join('\n');
    }
    case 'cli': {
      const words = action.cliArguments?.(variables) ?? [
        'query',
        inOneLine(document),
        ...(Object.keys(shown).length === 0 ? [] : ['--variables', JSON.stringify(shown)]),
      ];
      return ['espalier', ...words].map(quoteForShell).join(' ');
    }
  }
}

function withoutSecrets(value: object, secrets: readonly string[]): object {
  return JSON.parse(
    JSON.stringify(value, (key, of: unknown) => (secrets.includes(key) ? '…' : of)),
  ) as object;
}

/** Told as it happens, until it is stopped. */
function isSubscription(document: string): boolean {
  return /^\s*subscription\b/m.test(document);
}

/** Without the indentation that it has in its source. */
function trimmed(document: string): string {
  const lines = document.replace(/^\s*\n|\s+$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** Unless it has comments or texts, in which lines mean something. */
function inOneLine(document: string): string {
  return /[#"]/.test(document) ? document : document.replace(/\s+/g, ' ').trim();
}

function commented(text: string): string {
  return text.replace(/^/gm, '# ');
}

/** Words that people chose, at the end of a command: one that begins with a dash is not taken for a flag. */
export function positionalArguments(...words: readonly string[]): readonly string[] {
  return words.some((word) => word.startsWith('-')) ? ['--', ...words] : words;
}

/** A flag with a value that people chose: one that begins with a dash is not taken for a flag of its own. */
export function flagArguments(flag: string, value: string): readonly string[] {
  return value.startsWith('-') ? [`--${flag}=${value}`] : [`--${flag}`, value];
}

/** For a POSIX shell. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
