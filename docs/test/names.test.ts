import { Writable } from 'node:stream'
import { errorTable } from '@plant-store/contract'
import { exitCodes } from '@plant-store/server/commands/command-error.js'
import {
  environmentNameOf,
  flagOf,
  settingNames,
  settings,
} from '@plant-store/server/config/settings.js'
import { run } from '@plant-store/server/run.js'
import { createMetrics } from '@plant-store/server/telemetry/metrics.js'
import { expect, test } from 'vitest'
import { documents, read, rowsOf } from './markdown.ts'

const RUNBOOK = 'docs/runbook.md'

/** Other names begin like that, too: those of a user of a database. */
const METRIC = /\b((?:nodejs|process|plant_store)_\w+_(?:total|seconds|bytes))\b/g

const all = documents.map(read).join('\n')

/** The metrics that a server exposes, whatever its engine, by name. */
async function exposedMetrics(): Promise<string[]> {
  const metrics = createMetrics()
  metrics.measureStore({ measure: () => Promise.reject(new Error('not measured here')) })
  metrics.measureReadiness(() => Promise.resolve())
  metrics.measureConnections(() => 0)
  const text = await metrics.print()
  return [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)
}

/** The commands that a help page of the server's program lists. */
async function commandsOf(...group: string[]): Promise<string[]> {
  let help = ''
  const print = (text: string) => {
    help += text
  }
  const streams = { out: print, err: print, output: new Writable() }
  await run([...group, '--help'], streams as Parameters<typeof run>[1])
  const [, listed = ''] = /^Commands:\n((?: .*\n)*)/m.exec(help) ?? []
  return [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name)
}

/** The rows of the only table in all documents whose first cells begin like that. */
function tableOf(beginning: RegExp): string[][] {
  const tables = documents.map((one) => rowsOf(one, beginning)).filter((rows) => rows.length > 0)
  expect(tables).toHaveLength(1)
  return tables[0] ?? []
}

test("the table of errors is the contract's", () => {
  const rows = tableOf(/^\d{5} /).map(([error, status]) => `${error} ${status}`)
  expect(rows).toEqual(
    Object.entries(errorTable).map(([name, { code, status }]) => `${code} \`${name}\` ${status}`),
  )
})

test("the table of settings is the server's, in the order of its help", () => {
  const documented = tableOf(/^`PLANT_STORE_\w+`.*\|\s*`--/).map(
    ([environment = '', flag = '', initial = '']) => [
      /`(\w+)`/.exec(environment)?.[1],
      flag,
      /`([^`]+)`/.exec(initial)?.[1],
    ],
  )
  const actual = settingNames.map((name) => [
    environmentNameOf(name),
    `\`${flagOf(name)}\``,
    settings[name].initial,
  ])
  expect(documented).toEqual(actual)
})

test('the table of metrics is what a server exposes', async () => {
  const documented = tableOf(/^`plant_store_/).map(([name = '']) => /\w+/.exec(name)?.[0])
  const exposed = (await exposedMetrics()).filter((name) => name.startsWith('plant_store_'))
  expect(documented.toSorted()).toEqual(exposed.toSorted())
})

test('every command, setting and metric that a document names exists', async () => {
  const commands = await commandsOf()
  const tokenCommands = await commandsOf('token')
  for (const [, command = '', word] of all.matchAll(/`plant-store-server ([a-z]+) ?([a-z]+)?`/g)) {
    expect(commands).toContain(command)
    if (command === 'token') expect(tokenCommands).toContain(word)
  }
  const known = [
    ...settingNames.map(environmentNameOf),
    environmentNameOf('databaseUrl').concat('_FILE'),
  ]
  for (const [name] of read(RUNBOOK).matchAll(/PLANT_STORE_\w+/g)) expect(known).toContain(name)
  const metrics = await exposedMetrics()
  for (const [, name = ''] of all.matchAll(METRIC)) {
    expect(metrics).toContain(name)
  }
})

test('every alert has a section of the runbook, which its link leads to, and every exit code', () => {
  const headings = Array.from(read(RUNBOOK).matchAll(/^##+ (.*)$/gm), ([, heading]) => heading)
  const rules = read('operations/alerts.yml')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  const links = [...rules.matchAll(/runbook_url: (\S+)/g)].map(([, link]) => link)
  expect(alerts).not.toEqual([])
  expect(headings.filter((heading) => heading?.startsWith('PlantStore'))).toEqual(alerts)
  expect(links).toEqual(alerts.map((name) => `${RUNBOOK}#${name.toLowerCase()}`))
  const codes = Object.values(exitCodes).toSorted((one, other) => one - other)
  for (const code of codes)
    expect(all).toMatch(new RegExp(`^(?:## |### |\\| )(?:Exit code )?${code}\\b`, 'm'))
})
