/** `espalier completion`: prints a completion script for a shell. */

import { UsageError } from '../../config/start-error.ts';
import { command, type Command, type ListedCommand } from '../command.ts';
import { print } from '../output.ts';
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
    details: `Commands, flags, files and fixed words. Put it where your shell looks, and begin a new shell:

  bash   espalier completion bash > ~/.local/share/bash-completion/completions/espalier
         (or in ~/.bashrc: source <(espalier completion bash))
  zsh    espalier completion zsh > ~/.zfunc/_espalier
         (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  fish   espalier completion fish > ~/.config/fish/completions/espalier.fish`,
    async run({ words: [shell] }) {
      const write = Object.hasOwn(scripts, shell!) ? scripts[shell!]! : undefined;
      if (!write)
        throw new UsageError(`There is a script for bash, zsh and fish, not for ${JSON.stringify(shell)}.`);
      await print(write(await readCommandTree(commands)));
    },
  });
}
