import type { Applied, NewPlantInput, PlantStoreMeta } from '@plant-store/client'
import { isPlantStoreError } from '@plant-store/client'
import { encodeJson, type JsonWritable } from '@plant-store/contract'
import { type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { exitCodes } from '../exit-codes.ts'
import { exitCodeOf, hintOf } from '../failure.ts'
import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'
import { wasThere } from '../was-there.ts'

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

/** `9007199254740993 "Fern" (indoor)` */
function describePlant({ id, name, ...others }: NewPlantInput): string {
  const values = Object.values(others).map((value) => (value === '' ? '""' : String(value)))
  return `${id} "${name}"${values.length === 0 ? '' : ` (${values.join(', ')})`}`
}

function describeStored(plant: NewPlantInput, meta: PlantStoreMeta, isJson: boolean): string {
  if (isJson) {
    const outcome = wasThere(meta) ? 'alreadyThere' : 'stored'
    return encodeJson({ outcome, plant, requestId: meta.requestId } as unknown as JsonWritable)
  }
  const shown = describePlant(plant)
  return wasThere(meta) ? `${shown} was there already.` : `Stored ${shown}.`
}

/** What became of a plant that may not be stored, in words and for programs. */
const byApplied: Readonly<Record<Applied, readonly [words: string, outcome: string]>> = {
  no: ['was not stored', 'notStored'],
  maybe: ['may have been stored', 'unknown'],
  yes: ['was stored, but', 'stored'],
}

/** One JSON object for a failure, whatever it is. */
function failureToJson(plant: Partial<NewPlantInput>, error: unknown): string {
  const { message, hint, cause } =
    error instanceof CliError ? error : { message: String(error), hint: undefined, cause: error }
  const facts = isPlantStoreError(cause) ? cause.toJSON() : {}
  // Without an error of the client nothing was sent; what is no CliError was not foreseen.
  const applied = isPlantStoreError(cause)
    ? cause.applied
    : error instanceof CliError
      ? 'no'
      : 'maybe'
  const value = { outcome: byApplied[applied][1], plant, error: { ...facts, message, hint } }
  return encodeJson(value as unknown as JsonWritable)
}

/** @throws CliError where the plant is not known to be stored */
async function create(plant: NewPlantInput, options: CreateOptions, terminal: Terminal) {
  const client = await openClient(options, terminal)
  const result = await client.tryCreatePlant(plant, { signal: terminal.stop })
  if (result.ok) return result.meta
  const { error } = result
  const message = `${plant.id} ${byApplied[error.applied][0]}: ${error.message}`
  throw new CliError(message, exitCodeOf(error), { hint: hintOf(error), cause: error })
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
        terminal.out(`${describeStored(plant, meta, options.json === true)}\n`)
      } catch (error) {
        if (options.json) terminal.out(`${failureToJson(plant, error)}\n`)
        throw error
      }
    })
}
