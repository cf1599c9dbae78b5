import type { Applied, NewPlantInput } from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { addConnectionOptions, type ConnectionOptions, openClient } from '../connection.ts'
import { exitCodeOf, hintOf, wasThere } from '../outcome.ts'
import { plantFieldNames, plantFields } from '../plant-fields.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  plant-store create 9007199254740993 Fern --tag indoor
  plant-store create -5 -- "-20 °C hardy"`

const requiredFields = plantFieldNames.filter((field) => plantFields[field].isRequired)
const optionalFields = plantFieldNames.filter((field) => !plantFields[field].isRequired)

/** The values of a command line by their fields, for the contract to judge. */
function readPlant(words: readonly string[], options: object): NewPlantInput {
  const required = Object.fromEntries(requiredFields.map((field, at) => [field, words[at]]))
  const texts: Readonly<Record<string, string | undefined>> = { ...options, ...required }
  const values = plantFieldNames.flatMap((field) => {
    const text = texts[field]
    return text === undefined ? [] : [[field, plantFields[field].fromText(text)]]
  })
  return Object.fromEntries(values)
}

/** `9007199254740993 "Fern" (indoor)` */
function describePlant({ id, name, ...others }: NewPlantInput): string {
  const values = Object.values(others).map((value) => (value === '' ? '""' : String(value)))
  return `${id} "${name}"${values.length === 0 ? '' : ` (${values.join(', ')})`}`
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
  if (result.ok) {
    const shown = describePlant(plant)
    terminal.out(wasThere(result.meta) ? `${shown} was there already.\n` : `Stored ${shown}.\n`)
    return
  }
  const { error } = result
  const message = `${plant.id} ${byApplied[error.applied]}: ${error.message}`
  throw new CliError(message, exitCodeOf(error), hintOf(error, tokenBy))
}

export function addCreateCommand(program: Command, terminal: Terminal): void {
  const command = program.command('create').description('store one plant')
  for (const field of requiredFields) command.argument(`<${field}>`, `the plant's ${field}`)
  for (const field of optionalFields)
    command.option(`--${field} <${field}>`, `the plant's ${field}`)
  addConnectionOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<ConnectionOptions>()
      const plant = readPlant(command.args, options)
      await create(plant, options, terminal)
    })
}
