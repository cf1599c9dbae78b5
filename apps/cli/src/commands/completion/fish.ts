import type { CommandWord, FlagWord, Value } from './words.ts'

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

function suffixOf(value: Value): string {
  if (value === 'nothing') return ''
  if (value === 'file') return ' -r -F'
  return typeof value === 'string' ? ' -x' : ` -x -a ${quote(value.join(' '))}`
}

function lineOfFlag(when: string, { about, long, short, value }: FlagWord): string {
  const names = `-l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`
  return `complete -c plant-store -n ${when} ${names}${suffixOf(value)} -d ${quote(about)}`
}

function linesOfArgument(when: string, argument: Value): string[] {
  if (argument === 'file') return [`complete -c plant-store -n ${when} -F`]
  if (typeof argument === 'string') return []
  return [`complete -c plant-store -n ${when} -a ${quote(argument.join(' '))}`]
}

function linesOf({ about, argument, flags, name }: CommandWord): string[] {
  const when = quote(`__fish_seen_subcommand_from ${name}`)
  return [
    `complete -c plant-store -n __fish_use_subcommand -a ${name} -d ${quote(about)}`,
    ...flags.map((flag) => lineOfFlag(when, flag)),
    ...linesOfArgument(when, argument),
  ]
}

/** A script for fish. */
export function fishScript(commands: readonly CommandWord[]): string {
  return `# fish completion for plant-store\ncomplete -c plant-store -f\n${commands.flatMap(linesOf).join('\n')}\n`
}
