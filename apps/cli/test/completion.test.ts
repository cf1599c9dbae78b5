import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { findOnPath } from '../../../packages/client/runtimes/runtimes.ts'
import { openScreenOf, runProgram, type Screen } from './helpers/program.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

/** The file that each shell reads when it starts, under its home, and what is in it. */
const SHELLS = {
  bash: {
    file: '.bashrc',
    setup: (script: string) => `PS1='> '\nbind 'set enable-bracketed-paste off'\n${script}`,
    words: (home: string) => ['bash', '--noprofile', '--rcfile', join(home, '.bashrc'), '-i'],
  },
  zsh: {
    file: '.zshrc',
    setup: (script: string) => `PS1='> '\nautoload -U compinit\ncompinit -u -D\n${script}`,
    words: () => ['zsh', '-o', 'NO_GLOBAL_RCS', '-i'],
  },
  fish: {
    file: '.config/fish/config.fish',
    setup: (script: string) =>
      `function fish_prompt; echo -n '> '; end\nfunction fish_greeting; end\nset -g fish_autosuggestion_enabled 0\n${script}`,
    words: () => ['fish', '-i'],
  },
} as const

type Shell = keyof typeof SHELLS

/** A shell that has the script, in a folder with a file of plants, as a person has it. */
async function openShell(
  shell: Shell,
): Promise<{ readonly screen: Screen; readonly home: string }> {
  const home = makeTemporaryFolder()
  const { file, setup, words } = SHELLS[shell]
  const { stdout } = await runProgram(['completion', shell])
  mkdirSync(join(home, file, '..'), { recursive: true })
  writeFileSync(join(home, file), setup(stdout))
  writeFileSync(join(home, 'my plants.csv'), 'id,name\n')
  const screen = openScreenOf(words(home), { cwd: home, env: { HOME: home, LANG: 'C.UTF-8' } })
  onTestFinished(async () => {
    screen.kill('SIGKILL')
    await screen.ended
  })
  await screen.waitFor(/^> /m)
  return { screen, home }
}

describe.each(Object.keys(SHELLS) as Shell[])('the completion for %s', (shell) => {
  const options = needs(shell, findOnPath(shell) !== undefined)

  test('completes commands, flags, their values and files', options, async () => {
    const { screen } = await openShell(shell)
    const cases: readonly (readonly [typed: string, shown: RegExp])[] = [
      ['plant-store cre\t', /> plant-store create /],
      ['--ta\t', /> plant-store create --tag /],
      ['\x15plant-store check --fo\t', /> plant-store check --format /],
      ['c\t', /> plant-store check --format csv /],
      ['my\t', /> plant-store check --format csv my\\ plants\.csv/],
      ['\x15plant-store whoami --token-file m\t', /--token-file my\\ plants\.csv/],
      ['\x15plant-store completion z\t', /> plant-store completion zsh/],
    ]
    for (const [typed, shown] of cases) {
      screen.type(typed)
      await screen.waitFor(shown)
    }
  })

  test('offers every command, and runs nothing of what was typed', options, async () => {
    const { screen, home } = await openShell(shell)
    screen.type('plant-store create "$(touch typed)" --\t\t')
    await screen.waitFor('--token-file')
    screen.type('\x15plant-store \t\t')
    for (const command of ['create', 'import', 'check', 'login', 'logout', 'whoami']) {
      await screen.waitFor(new RegExp(`^${command}\\b|\\s${command}\\b`, 'm'))
    }
    expect(existsSync(join(home, 'typed'))).toBe(false)
  })
})
