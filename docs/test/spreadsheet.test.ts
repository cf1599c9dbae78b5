import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../recording/session.ts'
import { copyFreshly, plainEnvironment, runInShell } from './fresh-copy.ts'
import { blocksOf, blockWith } from './markdown.ts'

const PAGE = 'docs/importing.md'
const START = blockWith('README.md', 'pnpm@12.16.0 start').text
const INSTALL = blockWith(PAGE, 'npm install -g').text
const LOGIN = blockWith(PAGE, 'plant-store login').text.trim()
const GO = blockWith(PAGE, 'cd examples/plants').text.trim()

/** The commands of the page behind a prompt, in order, but for the one that shows a file. */
const commands = blocksOf(PAGE)
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.match(/(?<=^\$ )plant-store .*$/gm) ?? [])

test('a stranger installs the command line and imports a spreadsheet from the page alone', {
  timeout: 400_000,
}, async () => {
  const folder = copyFreshly()
  const global = join(folder, 'global')
  mkdirSync(global)
  const server = runInShell(folder, START)
  const [, token = ''] = await server.print(/^ {2}(plant_\S+)$/m)
  const [, url = ''] = await server.print(/listens on (\S+)/)
  const installed = runInShell(folder, `set -e\n${INSTALL}\necho it is installed`, {
    npm_config_prefix: global,
    // It would be looked for below the prefix.
    npm_config_globalconfig: execFileSync('npm', ['config', 'get', 'globalconfig'], {
      env: plainEnvironment(),
    })
      .toString()
      .trim(),
  })
  expect(await installed.ended).toContain('it is installed')

  const { PATH = '' } = plainEnvironment()
  const session = openSession({
    columns: 160,
    rows: 100,
    folder,
    environment: { HOME: folder, PATH: [join(global, 'bin'), PATH].join(delimiter) },
  })
  onTestFinished(() => session.close())
  await session.waitFor(/^\$$/)
  await session.type(`${LOGIN.replace('http://127.0.0.1:3000', url)}\r`)
  await session.waitFor(/Token .*:/)
  await session.type(`${token}\r`)
  await session.waitFor(/takes the token plant_\w+_…/)
  await session.type(`${GO}\r`)
  const codes: number[] = []
  for (const command of commands) {
    await session.type(`${command}; echo "ended: $?"\r`)
    await session.waitFor(new RegExp(`(?:^ended: \\d+$[\\s\\S]*){${codes.length + 1}}\\n\\$$`, 'm'))
    const ended = session.text().matchAll(/^ended: (\d+)$/gm)
    codes.push(Number([...ended].at(-1)?.[1]))
  }
  expect(codes).toEqual([2, 3, 3, 3])
  expect(session.text()).toContain('15 stored (1 there already), 5 rejected')
  await server.kill()
})
