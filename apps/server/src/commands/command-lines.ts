import type { Command } from 'commander'
import { flagOf, SECRETS, type SettingName, settingNames } from '../config/settings.ts'
import { maskDatabaseUrl } from '../engines.ts'
import { quoteForShell } from '../text/quote-for-shell.ts'

/** The settings among the arguments of a command line, as they were given; the last one counts. */
export function findGivenSettings(args: readonly string[]): ReadonlyMap<SettingName, string> {
  const given = new Map<SettingName, string>()
  for (const name of settingNames) {
    const flag = flagOf(name)
    const index = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
    const text = args[index] === flag ? args[index + 1] : args[index]?.slice(flag.length + 1)
    if (text !== undefined) given.set(name, text)
  }
  return given
}

function findCommand(program: Command, words: string): Command {
  let command = program
  for (const word of words.split(' ')) {
    const next = command.commands.find((other) => other.name() === word)
    if (next === undefined) break
    command = next
  }
  return command
}

/**
 * Writes command lines for the reader to paste: the program, the words, and the given settings that
 * the command takes, without passwords.
 */
export function createCommandLines(
  program: Command,
  given: ReadonlyMap<SettingName, string>,
): (words: string) => string {
  return (words) => {
    const flags = findCommand(program, words).options.map(({ long }) => long)
    const settings = Array.from(given)
      .filter(([name]) => flags.includes(flagOf(name)))
      .map(([name, text]) => {
        const shown = SECRETS.has(name) ? maskDatabaseUrl(text) : text
        return ` ${flagOf(name)} ${quoteForShell(shown)}`
      })
    return `${program.name()} ${words}${settings.join('')}`
  }
}
