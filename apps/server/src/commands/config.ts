import { printableLine } from '@plant-store/plant-files'
import type { Command } from 'commander'
import { type Flags, findSetting, loadConfig, shownText } from '../settings/config.ts'
import { environmentNameOf, settingNames } from '../settings/settings.ts'
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
        const shown = `${environmentNameOf(name)}=${shownText(name, text)}`
        terminal.out(printableLine(`${shown}  # ${source}\n`))
      }
    })
}
