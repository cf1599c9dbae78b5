import { describe, expect, test } from 'vitest'
import { openScreen, runProgram } from './helpers/program.ts'

const HELP = (await runProgram(['--help'])).stdout
const COMMANDS = Array.from(
  HELP.matchAll(/^ {2}([a-z]+) (?=.*\S)/gm),
  ([, name = '']) => name,
).filter((name) => !['plant-store', 'help'].includes(name))

describe('help', () => {
  test('goes to stdout, is no failure, and lists commands, examples and exit codes', async () => {
    const { code, stdout, stderr } = await runProgram(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const word of ['Usage: plant-store', 'Examples:', 'Exit codes:', '  130  interrupted']) {
      expect(stdout).toContain(word)
    }
    expect(COMMANDS.toSorted()).toEqual(['check', 'create', 'import', 'login'])
  })

  test.each(COMMANDS)('of %s has an example, by flag and by command', async (command) => {
    const byFlag = await runProgram([command, '--help'])
    expect(byFlag).toMatchObject({ code: 0, stderr: '' })
    expect(byFlag.stdout).toContain(`\nExamples:\n`)
    expect(byFlag.stdout).toMatch(new RegExp(`^ .*plant-store ${command}`, 'm'))
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
    [['create', '5'], "missing required argument 'name'"],
    [['create', '5', 'Fern', '--tga', 'x'], "unknown option '--tga'\n  Did you mean --tag?"],
    [['create', '5', 'Fern', 'indoor'], 'too many arguments'],
    [['check', '--format', 'xml', 'x'], "'xml' is invalid"],
    [['check', '--delimiter', '||', 'x'], "'||' is invalid. Try: comma"],
    [['check', '--map', 'x=colour', 'x'], 'Try: "COLUMN=FIELD"'],
    [['check', '--encoding', 'x', 'x'], "'x' is invalid. Try: utf-8"],
    [['import', '--from-row', '0', 'x'], 'It is an integer from 1.'],
    [['import', 'x', 'y'], 'too many arguments'],
  ])('%j ends with 2 and what to try', async (args, message) => {
    const { code, stdout, stderr } = await runProgram(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/Try: /)
  })

  test('without any word shows the help on stderr', async () => {
    const { code, stdout, stderr } = await runProgram([])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: plant-store')
  })

  test('cannot control the terminal or add a line', async () => {
    const { stderr } = await runProgram(['create', '5', 'Fern', '--\x1b[31m\nTry: rm'])
    expect(stderr).not.toContain('\x1b')
    expect(stderr).not.toContain('\nTry: rm')
  })
})

test('a reader that closes stdout early is no failure', async () => {
  const screen = openScreen(['--help'], {
    shell: '{ "$@"; echo "code $?" >&2; } | true',
  })
  await screen.ended
  expect(screen.text()).toBe('code 0')
})

test('the version is that of the package', async () => {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
  expect(await runProgram(['--version'])).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: '',
  })
})
