/** The completion script for bash 3.2 (the version of macOS) and newer. */

import type { Completes } from '../command.ts';
import type { CommandTree, CompletedCommand } from './command-tree.ts';

/**
 * Finds the words of the command, then counts its arguments. Skips flags and their values. Bash splits `--flag=value`
 * at the equals sign, and `id:…` at the colon. The loop passes the cursor only if the cursor is at the value of a flag, where
 * `prev` is that flag, or after the colon of `id:…`, where nothing is completed.
 */
const completeWord = `_espalier() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local name='' count=0 i=1 ended='' next flags valued found word line
  if [[ $cur == = ]]; then cur=''
  elif [[ $prev == = ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  while ((i < COMP_CWORD)); do
    word="\${COMP_WORDS[i]}"
    _espalier_next
    _espalier_flags
    if [[ $word == : ]]; then ((i += 1))
    elif [[ -z $ended && $word == -- ]]; then ended=1
    elif [[ -z $ended && $word == -?* ]]; then
      if [[ \${COMP_WORDS[i+1]} == = ]]; then ((i += 2))
      elif [[ " $valued " == *" $word "* ]]; then ((i += 1))
      fi
    elif [[ -z $name && $word == help ]]; then :
    elif [[ " $next " == *" $word "* ]]; then name="\${name:+$name }$word"
    else ((count += 1))
    fi
    ((i += 1))
  done
  ((i > COMP_CWORD)) || prev=''
  _espalier_next
  _espalier_flags
  ((count == 0)) || next=''
  found=''
  if [[ -n $prev ]]; then _espalier_value
  elif [[ -z $ended && $cur == -* ]]; then found="$flags"
  elif [[ -n $next ]]; then found="$next"
  else _espalier_word
  fi
  COMPREPLY=()
  if [[ $found == file ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
  else
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$found" -- "$cur")
  fi
}`;

export function bashScript({ commands, firstWords, secondWords }: CommandTree): string {
  const nextWords = [
    ["''", firstWords] as const,
    ...[...secondWords].map(([word, choices]) => [quoted(word), choices] as const),
  ];
  return `# Completion of espalier for bash, by: espalier completion bash

${completeWord}

_espalier_next() {
  case "$name" in
${nextWords.map(([word, choices]) => `    ${word}) next=${quoted(choices.map((choice) => choice.word).join(' '))} ;;`).join('\n')}
    *) next='' ;;
  esac
}

_espalier_flags() {
  case "$name" in
${commands.map(flagsCase).join('\n')}
    *) flags='--help --version' valued='' ;;
  esac
}

_espalier_value() {
  case "$name $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
}

_espalier_word() {
  case "$name $count" in
${commands.flatMap(wordCases).join('\n')}
  esac
}

complete -F _espalier espalier`;
}

function flagsCase({ name, flags }: CompletedCommand): string {
  const valued = flags
    .filter(({ value }) => value !== undefined)
    .flatMap((flag) => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])]);
  const all = flags.map((flag) => `--${flag.name}`);
  return `    ${quoted(name)}) flags=${quoted(all.join(' '))} valued=${quoted(valued.join(' '))} ;;`;
}

function valueCases({ name, flags }: CompletedCommand): string[] {
  return flags.flatMap((flag) => {
    if (flag.completes === undefined) return [];
    const spelled = [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])];
    return [
      `    ${spelled.map((each) => quoted(`${name} ${each}`)).join(' | ')}) ${setFound(flag.completes)} ;;`,
    ];
  });
}

function wordCases({ name, words }: CompletedCommand): string[] {
  return words.flatMap(({ completes, isRepeatable }, index) => {
    if (completes === undefined) return [];
    return [
      `    ${isRepeatable ? `${quoted(`${name} `)}*` : quoted(`${name} ${index}`)}) ${setFound(completes)} ;;`,
    ];
  });
}

function setFound(completes: Completes): string {
  return `found=${completes === 'file' ? 'file' : quoted(completes.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
