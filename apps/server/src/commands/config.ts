import { printableLine } from '@plant-store/plant-files'
import type { Command } from 'commander'
import { maskDatabaseUrl } from '../engines/engines.ts'
import { type Flags, findSetting, loadConfig } from '../settings/config.ts'
import { environmentNameOf, SECRETS, settingNames } from '../settings/settings.ts'
import { addSettingFlags } from './command.ts'
import type { Terminal } from './terminal.ts'

/** `config` */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('config'), settingNames)
    .description('check the settings, and print each with its source; passwords are left out')
    .action((flags: Flags) => {
      loadConfig(flags)
      for (const name of settingNames) {
        const { text, source } = findSetting(name, flags)
        const shown = SECRETS.has(name) ? maskDatabaseUrl(text) : text
        terminal.out(printableLine(`${environmentNameOf(name)}=${shown}  # ${source}\n`))
      }
    })
}
