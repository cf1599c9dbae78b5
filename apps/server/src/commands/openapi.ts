import { type Command, Option } from 'commander'
import { type Flags, loadConfig } from '../config/config.ts'
import { type OpenApiFormat, openApiFormats, writeOpenApi } from '../http/docs.ts'
import { addSettingFlags } from './command.ts'
import type { Terminal } from './terminal.ts'

/** `openapi [--format json|json-3.0]` */
export function addOpenApiCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('openapi'), ['publicUrl'])
    .description('print the OpenAPI document of the service')
    .addOption(
      new Option('--format <name>', 'json of OpenAPI 3.1, or json-3.0 of 3.0')
        .choices(Object.keys(openApiFormats))
        .default('json'),
    )
    .addHelpText('after', `\nExample: plant-store-server openapi > openapi.json`)
    .action(async (options: Flags & { format: OpenApiFormat }) => {
      const { publicUrl } = loadConfig(options)
      terminal.out(await writeOpenApi(options.format, publicUrl))
    })
}
