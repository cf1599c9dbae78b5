import type { Command } from 'commander'
import { type Flags, findSetting, loadConfig, shownText } from '../config/config.ts'
import { environmentNameOf, type SettingName, settingNames } from '../config/settings.ts'
import { printableLine } from '../text/printable.ts'
import { addAllSettingFlags } from './command.ts'
import type { Terminal } from './terminal.ts'

function formatSetting(name: SettingName, flags: Flags): string {
  const { text, source } = findSetting(name, flags)
  return printableLine(`${environmentNameOf(name)}=${shownText(name, text)}  # ${source}\n`)
}

/** `config` */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  addAllSettingFlags(program.command('config'))
    .description('check the settings, and print each with its source; passwords are left out')
    .action((flags: Flags) => {
      loadConfig(flags)
      for (const name of settingNames) terminal.out(formatSetting(name, flags))
    })
}
