/**
 * `espalier completion`: prints a completion script for a shell. The scripts call the program with the typed words, so that one
 * function proposes the next word for all shells.
 */

import { flagsOf } from '../config/read-setting.ts';
import { plainText } from '../config/setting.ts';
import {
  command,
  json,
  loadGroup,
  toFlag,
  type Command,
  type Completions,
  type LoadedGroup,
} from './command.ts';
import { allCommands } from './commands.ts';
import { version } from './package-files.ts';

/** Makes the shell itself propose file names. */
const files = ':files';

const scripts = {
  // Bash splits `--flag=value` at the equals sign and `id:…` at the colon. Works with bash 3.2, the version of macOS.
  bash: `_espalier() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line proposals=''
  COMPREPLY=()
  while IFS= read -r line; do proposals+="\${line%%$'\\t'*}"$'\\n'; done < <(
    espalier __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  if [[ $cur == = || $cur == : ]]; then cur=''; fi
  if [[ $proposals == :files* ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
  else
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$proposals" -- "$cur")
  fi
}
complete -F _espalier espalier`,
  zsh: `#compdef espalier
_espalier() {
  local line
  local -a values shown
  for line in "\${(@f)$(espalier __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      compset -P '--*='
      _files
      return
    fi
    if [[ -n $line ]]; then
      values+=("\${line%%$'\\t'*}")
      shown+=("\${line/$'\\t'/  -- }")
    fi
  done
  compset -P '--*='
  compadd -l -d shown -a values
}
if [[ $funcstack[1] == _espalier ]]; then _espalier "$@"; else compdef _espalier espalier; fi`,
  fish: `function __espalier_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l prefix (string match -r -- '^--[^=]+=' $words[-1])
    set -l lines (espalier __complete $words[2..-1] 2>/dev/null)
    if test "$lines[1]" = ':files'
        __fish_complete_path (string replace -r -- '^--[^=]+=' '' $words[-1]) | string replace -r '^' -- "$prefix"
    else
        for line in $lines
            echo "$prefix$line"
        end
    end
end
complete -c espalier -f -a '(__espalier_complete)'`,
} as const;

const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const completion = command({
  about: 'Print a completion script for a shell',
  words: [{ name: 'shell', about: shells.join(', '), completions: shells, choices: shells }],
  details: `Completes commands, options, files and fixed words. Store the script where your shell finds it, and start a new shell:

  bash   espalier completion bash > ~/.local/share/bash-completion/completions/espalier
         (or in ~/.bashrc: source <(espalier completion bash))
  zsh    espalier completion zsh > ~/.zfunc/_espalier
         (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  fish   espalier completion fish > ~/.config/fish/completions/espalier.fish`,
  examples: ['source <(espalier completion bash)', 'espalier completion fish | source'],
  run: ({ words: [shell] }) => ({ data: null, text: scripts[shell as keyof typeof scripts] }),
});

const printVersion = command({
  about: 'Print the version',
  options: { json },
  examples: ['espalier version', 'espalier version --json'],
  run: () => ({ data: { version: version() }, text: version() }),
});

export { printVersion as version };

interface Flag {
  readonly name: string;
  readonly about: string;
  readonly short?: string | undefined;
  readonly takesValue: boolean;
  readonly completions?: Completions | undefined;
}

/** Returns the proposals for the last word, each with a description after a tab. The shell selects the proposals that match. */
export async function complete(typed: readonly string[]): Promise<readonly string[]> {
  const words = joinSplitWords(typed);
  const last = words.pop() ?? '';
  if (words[0] === 'help') words.shift();
  const listed = allCommands.find(({ name }) => name === words[0]);
  if (!listed) {
    if (words.length > 0) return [];
    if (last.startsWith('-')) return ['--help', '--version'];
    return [...allCommands, { name: 'help', about: 'Show the help of a command' }].map(toProposal);
  }
  const definition = await listed.load();
  return 'commands' in definition
    ? completeGroup(await loadGroup(definition), definition.groupDefault, words.slice(1), last)
    : completeCommand(definition, words.slice(1), last);
}

function completeGroup(
  { commands }: LoadedGroup,
  groupDefault: string | undefined,
  words: readonly string[],
  last: string,
): readonly string[] {
  const [verb, ...rest] = words;
  const entries = Object.entries(commands);
  const named = entries.find(([name, { aliases }]) => name === verb || aliases?.includes(verb ?? ''));
  if (named) return completeCommand(named[1], rest, last);
  const isFlag = (verb ?? last).startsWith('-');
  if (groupDefault !== undefined && isFlag) return completeCommand(commands[groupDefault]!, words, last);
  if (verb !== undefined) return [];
  if (isFlag) return ['--help'];
  return entries.flatMap(([name, { about, aliases = [] }]) =>
    [name, ...(last === '' ? [] : aliases)].map((each) => toProposal({ name: each, about })),
  );
}

function completeCommand(definition: Command, words: readonly string[], last: string): readonly string[] {
  const flags = listFlags(definition);
  const findFlag = (word: string) =>
    flags.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`));
  let count = 0;
  let isEnded = false;
  let valueOf: Flag | undefined;
  for (const word of words) {
    if (valueOf) valueOf = undefined;
    else if (!isEnded && word === '--') isEnded = true;
    else if (!isEnded && /^-./.test(word)) valueOf = findFlag(word)?.takesValue ? findFlag(word) : undefined;
    else count++;
  }
  if (valueOf) return propose(valueOf.completions);
  const [, joined] = /^(--[^=]+)=/.exec(last) ?? [];
  if (!isEnded && joined !== undefined) return propose(findFlag(joined)?.completions);
  if (!isEnded && last.startsWith('-'))
    return flags.map(({ name, about }) => toProposal({ name: `--${name}`, about }));
  const { words: positions = [] } = definition;
  const lastPosition = positions.at(-1);
  const current = positions[count] ?? (lastPosition?.isRepeatable ? lastPosition : undefined);
  return propose(current?.completions);
}

function listFlags({ options = {}, settings = [] }: Command): readonly Flag[] {
  const ofOptions = Object.entries(options).map(([key, { value, choices, completions, ...option }]) => ({
    ...option,
    name: toFlag(key),
    takesValue: value !== undefined,
    completions: completions ?? choices,
  }));
  const ofSettings = settings.flatMap((setting) =>
    flagsOf(setting).map((name) => ({
      name,
      about: plainText(setting.about),
      takesValue: !setting.isSwitch,
      completions: name.endsWith('-file') ? ('file' as const) : undefined,
    })),
  );
  return [...ofOptions, ...ofSettings, { name: 'help', about: 'Show this help', takesValue: false }];
}

function propose(completions: Completions | undefined): readonly string[] {
  return completions === 'file' ? [files] : (completions ?? []);
}

function toProposal({ name, about }: { readonly name: string; readonly about: string }): string {
  return `${name}\t${about}`;
}

/** Joins `--flag`, `=` and `value`, and `id`, `:` and `…`, which bash splits. */
function joinSplitWords(typed: readonly string[]): string[] {
  const words: string[] = [];
  let isJoining = false;
  for (const word of typed) {
    const isSeparator = word === '=' || word === ':';
    if (words.length > 0 && (isSeparator || isJoining)) words.push(`${words.pop()}${word}`);
    else words.push(word);
    isJoining = isSeparator;
  }
  return words;
}
