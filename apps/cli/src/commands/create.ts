import type { Applied, NewPlantInput, PlantStoreMeta } from '@plant-store/client'
import { type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { exitCodeOf, hintOf, wasThere } from '../outcome.ts'
import { type PlantField, plantFieldNames, plantFields } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  plant-store create 9007199254740993 Fern --tag indoor
  plant-store create -5 -- "-20 °C hardy"`

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

function describeStored(plant: NewPlantInput, meta: PlantStoreMeta): string {
  const shown = describePlant(plant)
  return wasThere(meta) ? `${shown} was there already.` : `Stored ${shown}.`
}

/** What became of a plant that may not be stored. */
const byApplied: Readonly<Record<Applied, string>> = {
  no: 'was not stored',
  maybe: 'may have been stored',
  yes: 'was stored, but',
}

/** @throws CliError where the plant is not known to be stored */
async function create(plant: NewPlantInput, options: ConnectionOptions, terminal: Terminal) {
  const { client, tokenBy } = await openClient(options, terminal)
  const result = await client.tryCreatePlant(plant, { signal: terminal.stop })
  if (result.ok) return result.meta
  const { error } = result
  const message = `${plant.id} ${byApplied[error.applied]}: ${error.message}`
  throw new CliError(message, exitCodeOf(error), hintOf(error, tokenBy))
}

export function addCreateCommand(program: Command, terminal: Terminal): void {
  const command = program.command('create').description('store one plant')
  for (const field of requiredFields) command.argument(`<${field}>`, `the plant's ${field}`)
  for (const { option } of optionalFields) command.addOption(option)
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<ConnectionOptions>()
      const plant = readPlant(command.args, options)
      terminal.out(`${describeStored(plant, await create(plant, options, terminal))}\n`)
    })
}
