import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramName } from '../program/build-program.ts'
import type { Platform } from './platforms.ts'

/** What an archive calls a program, and who has it where there is no archive. */
export const PROGRAMS = {
  server: { program: 'plant-store-server', package: '@plant-store/server', oldestNode: '24' },
  cli: { program: 'plant-store', package: '@plant-store/cli', oldestNode: '20' },
} as const

/** Puts values in the place of names in braces. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(import.meta.dirname, 'launchers', template), 'utf8')
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

const inLines = (text: string, end: string) => text.replaceAll('\n', end)

/** The file that starts a program of an archive, and its name. */
export function launcherOf(
  name: ProgramName,
  { name: platform, loader = '' }: Platform,
  version: string,
) {
  const isWindows = platform.startsWith('win32')
  const values = { ...PROGRAMS[name], folder: name, platform, loader, version }
  if (isWindows) {
    return { file: `${values.program}.cmd`, text: inLines(fill('launcher.cmd', values), '\r\n') }
  }
  return { file: values.program, text: fill('launcher.sh', values) }
}

/** What the archive says of itself. */
export function readmeOf(
  { name: platform }: Platform,
  version: string,
  repository: string,
): string {
  const isWindows = platform.startsWith('win32')
  const start = isWindows ? '.\\plant-store-server' : './plant-store-server'
  const callers = isWindows ? '.\\plant-store' : './plant-store'
  const text = fill('README.md', { platform, version, start, callers, repository })
  return isWindows ? inLines(text, '\r\n') : text
}
