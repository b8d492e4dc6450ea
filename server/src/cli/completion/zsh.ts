/** The completion script for zsh, built on `_arguments` and `_describe`. */

import type { Completes } from '../command.ts';
import type { Choice, CommandTree, CompletedCommand, CompletedFlag } from './command-tree.ts';

export function zshScript({ commands, firstWords, secondWords }: CommandTree): string {
  return `#compdef espalier
# Completion of espalier for zsh, by: espalier completion zsh

_espalier() {
  local curcontext="$curcontext" name
  local -a choices
  if (( CURRENT > 2 )) && [[ $words[2] == help ]]; then
    shift words
    (( CURRENT -= 1 ))
  fi
  if (( CURRENT == 2 )); then
    choices=(${choicesOf(firstWords)})
    _describe -t commands command choices
    return
  fi
  name="$words[2]"
  case "$name" in
${[...secondWords].map(secondCase).join('\n')}
  esac
  if [[ -n $choices && $words[3] != -* ]]; then
    if (( CURRENT == 3 )); then
      _describe -t commands command choices
      return
    fi
    name="$name $words[3]"
    shift words
    (( CURRENT -= 1 ))
  fi
  shift words
  (( CURRENT -= 1 ))
  case "$name" in
${commands.map(argumentsCase).join('\n')}
  esac
}

if [[ $funcstack[1] == _espalier ]]; then
  _espalier "$@"
else
  compdef _espalier espalier
fi`;
}

function secondCase([word, choices]: readonly [string, readonly Choice[]]): string {
  return `    ${quoted(word)}) choices=(${choicesOf(choices)}) ;;`;
}

function choicesOf(choices: readonly Choice[]): string {
  return choices.map(({ word, about }) => `\n      ${quoted(`${word}:${about}`)}`).join('');
}

function argumentsCase({ name, flags, words }: CompletedCommand): string {
  const ofWords = words.map(
    ({ name: word, completes, isRepeatable, isOptional }, index) =>
      `${isRepeatable ? '*' : index + 1}${isOptional && !isRepeatable ? '::' : ':'}${word}:${actionOf(completes)}`,
  );
  const specs = [...flags.flatMap(flagSpecs), ...ofWords];
  return `    ${quoted(name)}) _arguments -s -S :${specs.map((spec) => ` \\\n      ${quoted(spec)}`).join('')} ;;`;
}

/** A flag that is already typed is not proposed again, in either spelling. */
function flagSpecs({ name, short, about, value, isRepeatable, completes }: CompletedFlag): string[] {
  const spellings = [`--${name}`, ...(short ? [`-${short}`] : [])];
  const before = isRepeatable ? '*' : spellings.length > 1 ? `(${spellings.join(' ')})` : '';
  return spellings.map((spelling) => {
    const joined = value === undefined ? '' : spelling.startsWith('--') ? '=' : '+';
    const after = value === undefined ? '' : `:${value}:${actionOf(completes)}`;
    return `${before}${spelling}${joined}[${about.replaceAll(/[[\]\\:]/g, String.raw`\$&`)}]${after}`;
  });
}

function actionOf(completes: Completes | undefined): string {
  if (completes === undefined) return ' ';
  return completes === 'file' ? '_files' : `(${completes.join(' ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
