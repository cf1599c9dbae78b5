import { describe, expect, test } from 'vitest'
import { openScreen, runProgram } from './helpers/program.ts'

const COMMANDS = ['check', 'create', 'import', 'login']

describe('help', () => {
  test('goes to stdout, is no failure, and lists commands, examples and exit codes', async () => {
    const { code, stdout, stderr } = await runProgram(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const word of ['Usage: plant-store', 'Examples:', 'Exit codes:', '  130  interrupted']) {
      expect(stdout).toContain(word)
    }
    const commands = Array.from(stdout.matchAll(/^ {2}([a-z]+) [[<]/gm), ([, name]) => name)
    expect(commands.filter((name) => name !== 'help').toSorted()).toEqual(COMMANDS)
  })

  test.each(COMMANDS)('of %s has an example, by flag and by command', async (command) => {
    const byFlag = await runProgram([command, '--help'])
    const stdout = expect.stringMatching(new RegExp(`\nExamples:\n .*plant-store ${command}`))
    expect(byFlag).toEqual({ code: 0, stderr: '', stdout })
    expect(await runProgram(['help', command])).toEqual(byFlag)
  })

  test('has no escape sequence, and no line wider than the terminal', async () => {
    const screen = openScreen(['--help'], { columns: 80 })
    expect(await screen.ended).toBe(0)
    expect(screen.written()).not.toContain('\x1b')
    expect(Math.max(...screen.lines().map(({ length }) => length))).toBeLessThanOrEqual(80)
  })
})

describe('a wrong command line', () => {
  test.each([
    [['imprt', 'x.csv'], "unknown command 'imprt'\n  Did you mean import?"],
    [['create'], "missing required argument 'id'\n  Try: plant-store create --help"],
    [['create', '5', 'Fern', '--tga', 'x'], "unknown option '--tga'\n  Did you mean --tag?"],
    [['create', '5', 'Fern', 'indoor'], 'too many arguments'],
    [['check', '--format', 'xml', 'x'], "'xml' is invalid"],
    [['check', '--delimiter', '||', 'x'], "'||' is invalid. Try: comma"],
    [['check', '--map', 'x=colour', 'x'], 'Try: "COLUMN=FIELD"'],
    [['check', '--encoding', 'x', 'x'], "'x' is invalid. Try: windows-1252"],
    [['import', '--from-row', '0', 'x'], 'It is an integer from 1.'],
    [['import', 'x', 'y'], 'too many arguments'],
    [['create', '5', 'Fern', '--\x1b\nTry: rm'], "unknown option '--\\u001b\\u000aTry: rm'\n"],
    [[], 'Usage: plant-store'],
  ])('%j ends with 2 and what to try', async (args, message) => {
    const stderr = expect.stringContaining(message)
    const result = await runProgram(args)
    expect(result).toEqual({ code: 2, stdout: '', stderr })
    if (args.length > 0) expect(result.stderr).toMatch(/Try: /)
  })
})

test('a reader that closes stdout early is no failure', async () => {
  const screen = openScreen(['--help'], { shell: '{ "$@"; echo "code $?" >&2; } | true' })
  await screen.ended
  expect(screen.text()).toBe('code 0')
})

test('the version is that of the package', async () => {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
  const stdout = `${manifest.version}\n`
  expect(await runProgram(['--version'])).toEqual({ code: 0, stdout, stderr: '' })
})
