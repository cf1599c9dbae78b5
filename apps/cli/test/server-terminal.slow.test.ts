import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

function writePlants(folder: string): void {
  const line = (_: unknown, id: number) => `{"id":${id},"name":"Fern ${'x'.repeat(100)}"}\n`
  writeFileSync(join(folder, 'plants.jsonl'), Array.from({ length: PLANTS }, line).join(''))
}

/** The drawings of a bar, without what clears the line before each. */
function drawingsOf(screen: Screen): string[] {
  const [, ...drawings] = screen.written().split(`\r${ESCAPE}[K`)
  return drawings.filter((text) => text !== '' && !text.includes('\r\n'))
}

describe('a long command in a terminal', () => {
  test.each([40, 80, 200])(
    'of %i columns shows how far it is, and never wraps',
    async (columns) => {
      const cwd = newFolder()
      writePlants(cwd)
      const screen = type('server load plants.jsonl', { cwd, columns })
      expect(await screen.ended).toBe(0)
      const drawings = drawingsOf(screen)
      expect(drawings.length).toBeGreaterThan(0)
      for (const text of drawings) expect(text.length).toBeLessThan(columns)
      expect(drawings.at(-1)).toMatch(/\d\/s {2}\d:\d\d left$/)
      // The bar is gone, and the last words are there, over the width of the screen.
      const shown = screen.lines().join('')
      expect(shown).not.toContain(' left')
      expect(shown).toMatch(/Read 20,000 plants: 20,000 created, .* MB in .* s, [\d,]+ a second\./)
    },
  )

  test('follows a screen that becomes narrow, and ends at Ctrl-C with what to do', async () => {
    const cwd = newFolder()
    writePlants(cwd)
    const screen = type('(cat plants.jsonl; sleep 30) | server load --format jsonl -', {
      cwd,
      columns: 200,
    })
    await screen.waitFor('20,000 read')
    screen.resize(40, 40)
    await expect.poll(() => drawingsOf(screen).at(-1)?.length, { timeout }).toBeLessThan(40)
    screen.type('\x03')
    await expect
      .poll(() => screen.lines().join(''), { timeout })
      .toContain('stopped before the end')
    expect(screen.lines().join('')).toContain('Read 20,000 plants')
  })

  test('shows how far an export is, but not among plants that a person reads', async () => {
    const cwd = newFolder()
    writePlants(cwd)
    const written = type('server load plants.jsonl', { cwd })
    expect(await written.ended).toBe(0)
    const toFile = type('server export | (sleep 1; cat) > file', { cwd })
    await toFile.waitFor('Exported 20,000 plants: ')
    const drawings = drawingsOf(toFile)
    expect(drawings.at(-1)).toMatch(
      /^\[[#.]{24}\] +\d+ % {2}[\d,]+ plants {2}[\d,]+\/s {2}\d:\d\d left$/,
    )
    await toFile.ended
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe(
      readFileSync(join(cwd, 'plants.jsonl'), 'utf8'),
    )
    const toScreen = type('server export', { cwd })
    await toScreen.ended
    expect(toScreen.text()).toContain('Exported 20,000 plants: ')
    expect(toScreen.written()).not.toContain(ESCAPE)
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
