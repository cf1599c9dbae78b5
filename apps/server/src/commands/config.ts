import type { Command } from 'commander'
import { describeSettings, type Flags, loadConfig } from '../settings/config.ts'
import { type SettingName, settings } from '../settings/settings.ts'
import { printableLine } from '../text/printable.ts'
import { addSettingFlags, type Terminal } from './command.ts'

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
