/** `espalier completion`: prints a completion script for a shell. */

import { UsageError } from '../../config/start-error.ts';
import { command, type Command, type ListedCommand } from '../command.ts';
import { print } from '../terminal/output.ts';
import { bashScript } from './bash.ts';
import { readCommandTree, type CommandTree } from './command-tree.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

const scripts: Readonly<Record<string, (tree: CommandTree) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Receives all commands, including itself. */
export function completionOf(commands: readonly ListedCommand[]): Command {
  return command({
    words: [{ name: 'shell', about: 'bash, zsh or fish', completes: Object.keys(scripts) }],
    details: `Completes commands, flags, files and fixed words. Store the script where your shell finds it, and start a new shell:

  bash   espalier completion bash > ~/.local/share/bash-completion/completions/espalier
         (or in ~/.bashrc: source <(espalier completion bash))
  zsh    espalier completion zsh > ~/.zfunc/_espalier
         (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  fish   espalier completion fish > ~/.config/fish/completions/espalier.fish`,
    async run({ words: [shell] }) {
      const write = Object.hasOwn(scripts, shell!) ? scripts[shell!]! : undefined;
      if (!write)
        throw new UsageError(`There is no script for ${JSON.stringify(shell)}. Use bash, zsh or fish.`);
      await print(write(await readCommandTree(commands)));
    },
  });
}
