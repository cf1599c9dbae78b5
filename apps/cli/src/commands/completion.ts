import { Argument, type Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { wordsOf } from './completion/words.ts'
import { zshScript } from './completion/zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

type Shell = keyof typeof scripts

const EXAMPLES = `
Examples:
  plant-store completion bash > ~/.local/share/bash-completion/completions/plant-store
  plant-store completion zsh > "\${fpath[1]}/_plant-store"
  plant-store completion fish > ~/.config/fish/completions/plant-store.fish`

export function addCompletionCommand(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('print a script that completes commands and flags in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => terminal.out(scripts[shell](wordsOf(program))))
}
