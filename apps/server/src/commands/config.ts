import type { Command } from 'commander'
import { type Flags, loadConfig } from '../config/config.ts'
import { printableLine } from '../text/printable.ts'
import { addSettingFlags } from './command.ts'
import type { Terminal } from './terminal.ts'

/** `config` */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('config'))
    .description('check the settings, and print each with its source; passwords are left out')
    .action((flags: Flags) => {
      for (const { name, text, source } of loadConfig(flags).shown) {
        terminal.out(printableLine(`${name}=${text}  # ${source}\n`))
      }
    })
}
