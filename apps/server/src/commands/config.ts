import type { Command } from 'commander'
import { type Flags, loadConfig } from '../settings/config.ts'
import { describeSettings } from '../settings/describe-settings.ts'
import { type SettingName, settings } from '../settings/settings.ts'
import { printableLine } from '../text/printable.ts'
import { addSettingFlags } from './command.ts'
import type { Terminal } from './terminal.ts'

/** `config` */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('config'), Object.keys(settings) as SettingName[])
    .description('check the settings, and print each with its source; passwords are left out')
    .action((flags: Flags) => {
      loadConfig(flags)
      for (const { environmentName, text, source } of describeSettings(flags)) {
        terminal.out(printableLine(`${environmentName}=${text}  # ${source}\n`))
      }
    })
}
