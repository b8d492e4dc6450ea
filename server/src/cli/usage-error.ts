/** Rewrites the usage errors of commander as sentences, with a suggestion for a mistyped command or option. */

import type { Command, CommanderError } from 'commander';
import { UsageError } from '../config/start-error.ts';

/** Suggested verbs for words that other programs use. The nearest spelling would be wrong, for example `delete` for `undelete`. */
const otherVerbs: Readonly<Record<string, readonly string[]>> = {
  copy: ['duplicate'],
  edit: ['update', 'rename'],
  end: ['revoke'],
  find: ['search'],
  remove: ['delete', 'revoke'],
  rename: ['move'],
  revoke: ['delete'],
  undelete: ['restore'],
};

/** Suggested commands for words that other programs use without a noun. */
const commandsByWord: Readonly<Record<string, string>> = {
  cp: 'folder duplicate',
  export: 'folder export',
  import: 'folder import',
  keys: 'key (API keys) or signing-key',
  ls: 'folder list',
  mkdir: 'folder create',
  mv: 'folder move',
  passwd: 'user password',
  password: 'user password',
  rm: 'folder delete',
  search: 'folder search',
  trash: 'folder trash',
  tree: 'folder tree',
};

/** Commander ends with such an error after it has printed help or the version. */
export function hasPrinted({ code }: { readonly code?: unknown }): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.version';
}

/** Returns `folder list` for the command `espalier folder list`. */
export function fullName(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${fullName(parent)} ${command.name()}` : parent ? command.name() : '';
}

/** Rewrites a message of commander as sentences. The value of an unknown option may be a password and is left out. */
export function toUsageError(error: CommanderError, command: Command): UsageError {
  const run = `Run '${['espalier', fullName(command), '--help'].filter(Boolean).join(' ')}' for details.`;
  if (error.code === 'commander.help') return new UsageError(`A command is missing. ${run}`);
  const [, what = '', hint = ''] = /^(?:error: )?([^]*?)\.?(?:\n\(([^]*)\))?$/.exec(error.message) ?? [];
  const plain =
    error.code === 'commander.excessArguments'
      ? what.replace(/ but got (\d+):[^]*$/, ' but got $1')
      : what.replace(/^(unknown option '-[^=]*)=[^]*$/, "$1'");
  const meant = fileFlagFor(plain, command) ?? commandFor(plain, command);
  const suggestion = meant === undefined ? hint || listVerbs(error, command) : `Did you mean ${meant}?`;
  const sentence = plain.charAt(0).toUpperCase() + plain.slice(1);
  return new UsageError([`${sentence}.`, suggestion, run].filter(Boolean).join(' '), { cause: error });
}

/** The commands of a group are few enough to list them. */
function listVerbs({ code }: CommanderError, { commands, parent }: Command): string {
  if (code !== 'commander.unknownCommand' || !parent) return '';
  return `The commands are ${commands.map((each) => each.name()).join(', ')}.`;
}

/** A secret has no flag, but its file has one: `--admin-password-file`. */
function fileFlagFor(message: string, { options }: Command): string | undefined {
  const [, flag] = /^unknown option '(--[^']+)'/.exec(message) ?? [];
  return options.find(({ long }) => long === `${flag}-file`)?.long;
}

function commandFor(message: string, { commands, parent }: Command): string | undefined {
  const [, word = ''] = /^unknown command '([^']+)'/.exec(message) ?? [];
  if (!parent) return Object.hasOwn(commandsByWord, word) ? commandsByWord[word] : undefined;
  const verbs = Object.hasOwn(otherVerbs, word) ? otherVerbs[word]! : [];
  return verbs.find((verb) => commands.some((each) => each.name() === verb));
}
