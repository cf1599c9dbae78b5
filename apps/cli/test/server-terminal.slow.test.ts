import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openScreenOf, type Screen, type ScreenOptions } from './helpers/program.ts'
import { SERVER } from './helpers/server.ts'

/** How long to wait for what the screen shows soon, in ms. */
const timeout = 15_000

const ESCAPE = '\u001b'

/** A word that a log line for people begins with, and one of JSON. */
const FOR_PEOPLE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO {2}listening {2}url=/m
const JSON_LINE = /^\{"level":"info",.*"msg":"listening"/m

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-screen-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Types a line of shell, in which `server` is the built server, into a terminal. */
function type(line: string, options: ScreenOptions & { readonly cwd: string }): Screen {
  const server = `server() { exec '${process.execPath}' '${SERVER}' "$@"; }`
  const screen = openScreenOf(['/bin/sh', '-c', `${server}\n${line}`], options)
  // One that has ended already is not there to be killed.
  onTestFinished(async () => {
    try {
      screen.kill('SIGKILL')
    } catch {}
    await screen.ended
  })
  return screen
}

const LISTEN = 'serve --listen 127.0.0.1:0 --operations-listen off'

/** Serves until a person ends it, and gives the screen and what went into a file. */
async function serve(rest: string, env: Record<string, string> = {}) {
  const cwd = newFolder()
  const screen = type(`server ${LISTEN} ${rest}`, { cwd, env, columns: 400 })
  const file = () => readFileSync(join(cwd, 'file'), 'utf8')
  await expect.poll(() => screen.text(), { timeout }).toMatch(/listening|200 means durable/)
  screen.type('\x03')
  expect(await screen.ended).toBe(0)
  return { screen, file }
}

describe('a server in a terminal', () => {
  test('logs lines for people, with colours', async () => {
    const { screen } = await serve('')
    expect(screen.text()).toMatch(FOR_PEOPLE)
    expect(screen.text()).toMatch(/ INFO {2}stopped {2}reason=SIGINT exitCode=0$/m)
    expect(screen.written()).toContain(`${ESCAPE}[32mINFO`)
  })

  test('has no colours if NO_COLOR is set', async () => {
    const { screen } = await serve('', { NO_COLOR: '1' })
    expect(screen.text()).toMatch(FOR_PEOPLE)
    expect(screen.written()).not.toContain(ESCAPE)
  })

  test('logs JSON if that is set', async () => {
    const { screen } = await serve('--log-format json')
    expect(screen.text()).toMatch(JSON_LINE)
    expect(screen.written()).not.toContain(ESCAPE)
  })

  test('logs for people beside results that go into a file', async () => {
    const { screen, file } = await serve('> file')
    expect(screen.text()).toMatch(FOR_PEOPLE)
    expect(screen.text()).not.toContain('200 means durable')
    expect(file()).toContain('200 means durable')
  })

  test('logs JSON into a file, and greets on the screen', async () => {
    const { screen, file } = await serve('2> file')
    expect(screen.text()).toContain('200 means durable')
    expect(screen.text()).not.toContain('listening')
    expect(file()).toMatch(JSON_LINE)
  })

  test('logs for people into a file if that is set, without colours', async () => {
    const { file } = await serve('--log-format text 2> file')
    expect(file()).toMatch(FOR_PEOPLE)
    expect(file()).not.toContain(ESCAPE)
  })
})

const PLANTS = 20_000

/** A store with many plants, in the folder where the server looks for it. */
async function makeStore(cwd: string): Promise<void> {
  expect(await type('server token list', { cwd }).ended).toBe(0)
  const database = new DatabaseSync(join(cwd, 'data/plants.db'))
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, NULL)')
  database.exec('BEGIN')
  for (let id = 0; id < PLANTS; id++) insert.run(id, `Fern ${'x'.repeat(100)}`)
  database.exec('COMMIT')
  database.close()
}

/** The drawings of a bar, without what clears the line before each. */
function drawingsOf(screen: Screen): string[] {
  const [, ...drawings] = screen.written().split(`\r${ESCAPE}[K`)
  return drawings.filter((text) => text !== '' && !text.includes('\r\n'))
}

describe('an export in a terminal', () => {
  test.each([40, 200])('of %i columns shows how far it is, and never wraps', async (columns) => {
    const cwd = newFolder()
    await makeStore(cwd)
    const screen = type('server export | (sleep 1; cat) > file', { cwd, columns })
    await screen.waitFor('Exported 20,000 plants: ')
    const drawings = drawingsOf(screen)
    expect(drawings.length).toBeGreaterThan(0)
    for (const text of drawings) expect(text.length).toBeLessThan(columns)
    expect(drawings.at(-1)).toMatch(/[\d,]+ plants {2}[\d,]+\/s {2}\d:\d\d left$/)
    if (columns === 200) expect(drawings.at(-1)).toMatch(/^\[[#.]{24}\] \d+ % {2}/)
    await screen.ended
    expect(readFileSync(join(cwd, 'file'), 'utf8').split('\n')).toHaveLength(PLANTS + 1)
    // The bar is gone, and the last words are there, over the width of the screen.
    expect(screen.lines().join('')).not.toContain(' left')
  })

  test('shows nothing among plants that a person reads', async () => {
    const cwd = newFolder()
    await makeStore(cwd)
    const screen = type('server export', { cwd })
    await screen.ended
    expect(screen.text()).toContain('Exported 20,000 plants: ')
    expect(screen.written()).not.toContain(ESCAPE)
  })
})

test.each([
  [300, 100],
  [90, 90],
])('help on a screen of %i columns is at most %i wide', async (columns, most) => {
  const screen = type('server serve --help', { cwd: newFolder(), columns })
  await screen.ended
  // Command lines are whole, because they are to be pasted.
  const lines = screen.lines().filter((line) => !line.includes('main.js'))
  const widest = Math.max(...lines.map((line) => line.length))
  expect(widest).toBeLessThanOrEqual(most)
  expect(widest).toBeGreaterThan(80)
})

test('settings are shown in groups on a screen, and one a line in a file', async () => {
  const cwd = newFolder()
  const onScreen = type('server config', { cwd })
  await onScreen.ended
  expect(onScreen.text()).toMatch(/^# Where it listens\nPLANT_STORE_LISTEN=/m)
  expect(onScreen.text()).toMatch(/\n\n# Limits\nPLANT_STORE_BODY_LIMIT_BYTES=/)
  await type('server config > file', { cwd }).ended
  expect(readFileSync(join(cwd, 'file'), 'utf8')).toMatch(/^(?:PLANT_STORE_.*\n)+$/)
})

test('what a token command records is a line for people on a screen, and JSON in the file', async () => {
  const cwd = newFolder()
  const screen = type('server token create --name ann --audit-file audit', { cwd, columns: 200 })
  expect(await screen.ended).toBe(0)
  expect(screen.text()).toMatch(
    / INFO {2}token\.create {2}done user=\S+ tokenId=\w+ tokenName=ann /,
  )
  expect(screen.text()).not.toContain('"audit"')
  expect(JSON.parse(readFileSync(join(cwd, 'audit'), 'utf8'))).toMatchObject({
    audit: 'token.create',
    outcome: 'done',
    store: expect.stringContaining('plants.db'),
  })
})
