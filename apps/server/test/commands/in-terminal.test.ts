import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openScreenOf, type ScreenOptions } from '../../../../test/screen.ts'
import { MAIN as SERVER } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { arrange } from './program.ts'

const ESCAPE = '\u001b'

/** A word that a log line for people begins with, and one of JSON. */
const FOR_PEOPLE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO {2}listening {2}url=/m
const JSON_LINE = /^\{"level":"info",.*"msg":"listening"/m

/** Types a line of shell, in which `server` is the built server, into a terminal. */
function type(line: string, options: ScreenOptions & { readonly cwd: string }) {
  const server = `server() { exec '${process.execPath}' '${SERVER}' "$@"; }`
  return openScreenOf(['/bin/sh', '-c', `${server}\n${line}`], options)
}

describe('a server in a terminal', () => {
  test.each<[string, string, Record<string, string>, [RegExp, ...RegExp[]], RegExp?]>([
    ['logs lines for people, with colours', '', {}, [FOR_PEOPLE, /\u001b\[32mINFO/]],
    ['has no colours if NO_COLOR is set', '', { NO_COLOR: '1' }, [FOR_PEOPLE, /^[^\u001b]*$/]],
    ['logs for people beside results in a file', '> file', {}, [FOR_PEOPLE], /200 means durable/],
    ['logs JSON into a file, and greets', '2> file', {}, [/200 means durable/], JSON_LINE],
  ])('%s', async (_what, redirect, env, shown, inFile = /^$/) => {
    const cwd = temporaryFolder()
    const listen = '--listen 127.0.0.1:0 --operations-listen off'
    const options = { cwd, env, columns: 400 }
    const screen = type(`touch file; server serve ${listen} ${redirect}`, options)
    const file = () => readFileSync(join(cwd, 'file'), 'utf8')
    await screen.waitFor(shown[0])
    await expect.poll(file).toMatch(inFile)
    screen.type('\x03')
    expect(await screen.ended).toBe(0)
    for (const text of shown) expect(screen.text() + screen.written()).toMatch(text)
  })
})

describe('an export in a terminal', () => {
  test('shows how far it is, and never wraps', async () => {
    const columns = 40
    const { folder: cwd } = await arrange(20_000)
    const screen = type('server export | (sleep 1; cat) > file', { cwd, columns })
    await screen.waitFor(/Exported 20,000 plants: /)
    const drawings = screen.written().split(`\r${ESCAPE}[K`).slice(1)
    const bars = drawings.filter((text) => text !== '' && !text.includes('\r\n'))
    for (const text of bars) expect(text.length).toBeLessThan(columns)
    expect(bars.at(-1)).toMatch(/^[\d,]+ plants$/)
    await screen.ended
    // It is gone.
    expect(screen.lines()).not.toContain(bars.at(-1))
  })

  test('shows nothing among plants that a person reads', async () => {
    const screen = type('server export', { cwd: (await arrange(20_000)).folder })
    await screen.ended
    expect(screen.text()).toContain('Exported 20,000 plants: ')
    expect(screen.written()).not.toContain(ESCAPE)
  })
})
