import type { Argument, Command, Option } from 'commander'

/** What may follow a flag, or stand as an argument: nothing, a file, some words, or any text. */
export type Value = 'nothing' | 'file' | 'text' | readonly string[]

export interface FlagWord {
  /** With its dashes. */
  readonly long: string
  readonly short: string | undefined
  readonly about: string
  readonly value: Value
  readonly isRepeatable: boolean
}

export interface CommandWord {
  readonly name: string
  readonly about: string
  readonly flags: readonly FlagWord[]
  readonly argument: Value
}

const NAMES_OF_FILES = ['file', 'path']

function toValue(choices: readonly string[] | undefined, name: string): Value {
  if (choices !== undefined) return choices
  return NAMES_OF_FILES.includes(name) ? 'file' : 'text'
}

function toFlag(option: Option): FlagWord {
  const { argChoices, description, flags, long = '', parseArg, required, short } = option
  const [, name = ''] = /<([^>]+)>/.exec(flags) ?? []
  return {
    long: long ?? '',
    short,
    about: description,
    value: required ? toValue(argChoices, name) : 'nothing',
    isRepeatable: required && argChoices === undefined && parseArg !== undefined,
  }
}

function argumentOf(last: Argument | undefined): Value {
  return last === undefined ? 'nothing' : toValue(last.argChoices, last.name())
}

/** Every command of a program with its flags; commands have no commands of their own. */
export function wordsOf(program: Command): readonly CommandWord[] {
  const help = program.createHelp()
  return help.visibleCommands(program).map((command) => ({
    name: command.name(),
    about: command.description(),
    flags: help.visibleOptions(command).map(toFlag),
    argument: argumentOf(command.registeredArguments.at(-1)),
  }))
}
