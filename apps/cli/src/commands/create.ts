import type { NewPlantInput, PlantStoreMeta } from '@plant-store/client'
import { type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { exitCodes } from '../exit-codes.ts'
import { exitCodeOf, hintOf } from '../failure.ts'
import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'
import { describeFailed, describeStored, failureToJson, storedToJson } from './create-words.ts'

interface CreateOptions extends ConnectionOptions {
  readonly json?: true
}

const EXAMPLES = `
Examples:
  plant-store create 9007199254740993 Fern --tag indoor
  plant-store create -5 -- "-20 °C hardy"
  plant-store create 7 Moss --json`

const requiredFields = plantFieldNames.filter((field) => plantFields[field].isRequired)
const optionalFields = plantFieldNames
  .filter((field) => !plantFields[field].isRequired)
  .map((field) => ({ field, option: new Option(`--${field} <${field}>`, `the plant's ${field}`) }))

/** The values of a command line by their fields, for the contract to judge. */
function readPlant(words: readonly string[], options: object): NewPlantInput {
  const flags: Readonly<Record<string, string>> = { ...options }
  const texts: readonly (readonly [PlantField, string | undefined])[] = [
    ...requiredFields.map((field, index) => [field, words[index]] as const),
    ...optionalFields.map(({ field, option }) => [field, flags[option.attributeName()]] as const),
  ]
  const given = texts.flatMap(([field, text]) =>
    text === undefined ? [] : [[field, plantFields[field].fromText(text)] as const],
  )
  return Object.fromEntries(given) as unknown as NewPlantInput
}

/** @throws CliError where the plant is not known to be stored */
async function create(
  plant: NewPlantInput,
  options: CreateOptions,
  terminal: Terminal,
): Promise<PlantStoreMeta> {
  const client = await openClient(options, terminal)
  const result = await client.tryCreatePlant(plant, { signal: terminal.stop })
  if (result.ok) return result.meta
  const { error } = result
  throw new CliError(describeFailed(plant, error), exitCodeOf(error), {
    hint: hintOf(error),
    cause: error,
  })
}

export function addCreateCommand(program: Command, terminal: Terminal): void {
  const command = program.command('create').description('store one plant')
  for (const field of requiredFields) command.argument(`<${field}>`, `the plant's ${field}`)
  for (const { option } of optionalFields) command.addOption(option)
  command.option('--json', 'print one JSON object, also for a failure')
  addConnectionOptions(command)
    .exitOverride((error) => {
      if (error.exitCode !== 0 && command.opts<CreateOptions>().json) {
        const usage = new CliError(error.message.replace(/^error: /, ''), exitCodes.usage)
        terminal.out(`${failureToJson({}, usage)}\n`)
      }
      throw error
    })
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<CreateOptions>()
      const plant = readPlant(command.args, options)
      try {
        const meta = await create(plant, options, terminal)
        terminal.out(`${options.json ? storedToJson(plant, meta) : describeStored(plant, meta)}\n`)
      } catch (error) {
        if (options.json) terminal.out(`${failureToJson(plant, error)}\n`)
        throw error
      }
    })
}
