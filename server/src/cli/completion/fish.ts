/** The completion script for fish: one line for each word, with its condition. */

import type { CommandTree, CompletedCommand, CompletedFlag } from './command-tree.ts';

export function fishScript({ commands, firstWords, secondWords }: CommandTree): string {
  const valued = commands
    .flatMap(({ flags }) => flags)
    .filter(({ value }) => value !== undefined)
    .flatMap((flag) => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])]);
  const nextWords = [['', firstWords] as const, ...secondWords];
  return `# Completion of espalier for fish, by: espalier completion fish

# The words before the cursor, without flags and their values.
function __espalier_words
    set -l isValue 0
    for token in (commandline -opc)[2..-1]
        if test $isValue = 1
            set isValue 0
        else if string match -q -- '-*' $token
            contains -- $token ${[...new Set(valued)].join(' ')}
            and set isValue 1
        else if test "$token" != help
            echo $token
        end
    end
end

# Whether the words before the cursor are exactly these.
function __espalier_after
    set -l typed (__espalier_words)
    test "$typed" = "$argv[1]"
end

# Whether this command was typed, followed by the given number of words; with a plus, by at least that many.
function __espalier_in
    set -l typed (__espalier_words)
    set -l name (string split ' ' -- $argv[1])
    set -l begun $typed[1..(count $name)]
    test "$begun" = "$argv[1]"
    or return 1
    set -l behind (math (count $typed) - (count $name))
    switch "$argv[2]"
        case ''
            true
        case '*+'
            test $behind -ge (string trim -c + -- $argv[2])
        case '*'
            test $behind -eq $argv[2]
    end
end

complete -c espalier -f
${nextWords
  .flatMap(([before, choices]) =>
    choices.map(
      ({ word, about }) =>
        `complete -c espalier -n ${quoted(`__espalier_after ${quoted(before)}`)} -a ${word} -d ${quoted(about)}`,
    ),
  )
  .join('\n')}
${commands.flatMap(linesOf).join('\n')}`;
}

function linesOf({ name, flags, words }: CompletedCommand): string[] {
  const within = (position = '') =>
    `complete -c espalier -n ${quoted(`__espalier_in ${quoted(name)}${position ? ` ${position}` : ''}`)}`;
  const ofWords = words.flatMap(({ completes, isRepeatable }, position) => {
    if (completes === undefined) return [];
    const what = completes === 'file' ? '-F' : `-a ${quoted(completes.join(' '))}`;
    return [`${within(`${position}${isRepeatable ? '+' : ''}`)} ${what}`];
  });
  return [...flags.map((flag) => `${within()} ${flagOf(flag)}`), ...ofWords];
}

function flagOf({ name, short, about, value, completes }: CompletedFlag): string {
  const letter = short ? ` -s ${short}` : '';
  return `-l ${name}${letter}${value === undefined ? '' : valueOf(completes)} -d ${quoted(about)}`;
}

function valueOf(completes: CompletedFlag['completes']): string {
  if (completes === 'file') return ' -r -F';
  return completes === undefined ? ' -x' : ` -x -a ${quoted(completes.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
