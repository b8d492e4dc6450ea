/** Describes actions and queries as data. The console can run them, or copy them as GraphQL, as a curl call or as a command. */

export interface Action<Variables extends object = object, Result = unknown> {
  /** The text of the button, for example "Rename folder". */
  readonly label: string;
  readonly document: string;
  /** The arguments after `espalier`, which must not contain a secret. Without them, `espalier query` sends the document. */
  cliArguments?(variables: Variables): readonly string[] | undefined;
  /** Input fields that are never copied. */
  readonly secrets?: readonly string[];
  /** Never set. It only gives TypeScript the type of the response. */
  readonly result?: Result;
}

/** An action with its variables. */
export interface Call<Variables extends object = object, Result = unknown> {
  readonly action: Action<Variables, Result>;
  readonly variables: Variables;
}

export type CopyFormat = 'graphql' | 'curl' | 'cli';

/** Formats a call as GraphQL, curl or CLI text, without tokens and passwords. */
export function formatCall(format: CopyFormat, { action, variables }: Call, apiUrl: string): string {
  const visible = withoutSecrets(variables, action.secrets ?? []);
  const document = removeIndent(action.document);
  switch (format) {
    case 'graphql':
      return Object.keys(visible).length === 0
        ? document
        : `${document}\n\n# Variables\n${commentOut(JSON.stringify(visible, null, 2))}`;
    case 'curl': {
      const body = JSON.stringify({ query: toOneLine(document), variables: visible });
      return [
        `curl ${quoteForShell(`${apiUrl}/graphql`)} \\`,
        ...(isSubscription(document) ? ["  -N -H 'Accept: text/event-stream' \\"] : []),
        '  -H "Authorization: Bearer $ESPALIER_AUTH_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${quoteForShell(body)}`,
      ].join('\n');
    }
    case 'cli': {
      const args = action.cliArguments?.(variables) ?? [
        'query',
        toOneLine(document),
        ...(Object.keys(visible).length === 0 ? [] : ['--variables', JSON.stringify(visible)]),
      ];
      return ['espalier', ...args].map(quoteForShell).join(' ');
    }
  }
}

function withoutSecrets(value: object, secrets: readonly string[]): object {
  return JSON.parse(
    JSON.stringify(value, (key, field: unknown) => (secrets.includes(key) ? '…' : field)),
  ) as object;
}

function isSubscription(document: string): boolean {
  return /^\s*subscription\b/m.test(document);
}

function removeIndent(document: string): string {
  const lines = document.replace(/^\s*\n|\s+$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** Joins the lines of a document, unless it has comments or strings, because line breaks matter there. */
function toOneLine(document: string): string {
  return /[#"]/.test(document) ? document : document.replace(/\s+/g, ' ').trim();
}

function commentOut(text: string): string {
  return text.replace(/^/gm, '# ');
}

/** Formats the last arguments of a command from values that a user typed. A value with a leading dash does not become a flag. */
export function positionalArguments(...values: readonly string[]): readonly string[] {
  return values.some((value) => value.startsWith('-')) ? ['--', ...values] : values;
}

/** Formats a flag with a value that a user typed. A value with a leading dash does not become another flag. */
export function flagArguments(flag: string, value: string): readonly string[] {
  return value.startsWith('-') ? [`--${flag}=${value}`] : [`--${flag}`, value];
}

/** Quotes an argument for a POSIX shell. */
export function quoteForShell(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
