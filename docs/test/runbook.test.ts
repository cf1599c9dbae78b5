import { globSync } from 'node:fs'
import { Writable } from 'node:stream'
import { errorTable } from '@plant-store/contract'
import { exitCodes } from '@plant-store/server/commands/command-error.js'
import { environmentNameOf, settingNames } from '@plant-store/server/config/settings.js'
import { refusalReasons } from '@plant-store/server/http/limits/refusals.js'
import { run } from '@plant-store/server/run.js'
import { createMetrics } from '@plant-store/server/telemetry/metrics/metrics.js'
import { expect, test } from 'vitest'
import { read, root, rowsOf } from './markdown.ts'

const RUNBOOK = 'docs/runbook.md'

/** The sections of the runbook by their heading, each up to the next heading. */
const sections = new Map(
  read(RUNBOOK)
    .split(/^(?=##+ )/m)
    .map((section) => [/^##+ (.*)$/m.exec(section)?.[1] ?? '', section]),
)

function headingsLike(pattern: RegExp): string[] {
  return [...sections.keys()].filter((heading) => pattern.test(heading))
}

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

test('every alert has a section, which its link leads to, and no section is of another', () => {
  const rules = read('operations/alerts.yml')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  const links = [...rules.matchAll(/runbook_url: (\S+)/g)].map(([, link]) => link)
  expect(alerts).not.toEqual([])
  expect(headingsLike(/^PlantStore/)).toEqual(alerts)
  expect(links).toEqual(alerts.map((name) => `${RUNBOOK}#${name.toLowerCase()}`))
})

test('every exit code has a section, and no section is of another', () => {
  expect(headingsLike(/^Exit code /)).toEqual(
    Object.values(exitCodes)
      .toSorted((one, other) => one - other)
      .map((code) => `Exit code ${code}`),
  )
})

test('every section says what it means and what to do, and of an alert what to look at and when it is over', () => {
  for (const heading of headingsLike(/^(?:PlantStore|Exit code )/)) {
    const section = sections.get(heading)
    expect(section, heading).toMatch(/^- \*\*Means:\*\* \S/m)
    expect(section, heading).toMatch(/^- \*\*Do:\*\* \S/m)
    if (!heading.startsWith('PlantStore')) continue
    expect(section, heading).toMatch(/^- \*\*On the page:\*\* \S/m)
    expect(section, heading).toMatch(/^- \*\*Look at:\*\* \S/m)
    expect(section, heading).toMatch(/^- \*\*Over:\*\* \S/m)
  }
})

test('what it quotes of the page is there, and so are the errors that it names', () => {
  const page = globSync('apps/server/overview/*.ts', { cwd: root }).map(read).join('\n')
  const names = Object.keys(errorTable).map((name) => name.replaceAll('_', ' '))
  const lines = [...read(RUNBOOK).matchAll(/\*\*On the page:\*\*.*/g)].join('\n')
  const quoted = [...lines.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
  expect(quoted.length).toBeGreaterThan(40)
  expect(quoted.filter((text) => !page.includes(text) && !names.includes(text))).toEqual([])
})

test('every command, setting, metric, error and limit that it names exists', async () => {
  const text = read(RUNBOOK)
  const commands = await commandsOf()
  const tokenCommands = await commandsOf('token')
  for (const [, command = '', word] of text.matchAll(/`plant-store-server ([a-z]+) ?([a-z]+)?`/g)) {
    expect(commands).toContain(command)
    if (command === 'token') expect(tokenCommands).toContain(word)
  }
  for (const [name] of text.matchAll(/PLANT_STORE_\w+/g)) {
    expect(settingNames.map(environmentNameOf)).toContain(name)
  }
  const metrics = await exposedMetrics()
  for (const [name] of text.matchAll(/\b(?:plant_store|nodejs|process)_\w+/g)) {
    expect(metrics).toContain(name)
  }
  for (const [, name] of text.matchAll(/"error":"(\w+)"/g))
    expect(errorTable).toHaveProperty([name ?? ''])
  for (const [, name] of text.matchAll(/limiter="(\w+)"/g)) expect(refusalReasons).toContain(name)
})

test('the table of metrics in the interface is what a server exposes', async () => {
  const documented = rowsOf('docs/interface.md', /^`plant_store_/).map(
    ([name = '']) => /\w+/.exec(name)?.[0],
  )
  const exposed = (await exposedMetrics()).filter((name) => name.startsWith('plant_store_'))
  expect(documented.toSorted()).toEqual(exposed.toSorted())
})
