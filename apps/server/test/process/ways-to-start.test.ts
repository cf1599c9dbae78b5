import { globSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nodeFlagsOf, ROOT, readRoot, unitCommand } from './node-flags.ts'
import { startServerProcess } from './server-process.ts'

const PROGRAM = 'dist/main.js'

const scripts = Object.entries<string>(JSON.parse(readRoot('package.json')).scripts)
  .filter(([, script]) => script.includes(PROGRAM))
  .map(([name, script]) => ({ name, command: script.slice(script.lastIndexOf('node ')) }))

/** The commands of documents that start the program with flags of Node. */
const documented = globSync('docs/*.md', { cwd: ROOT })
  .flatMap((page) => readRoot(page).replaceAll('\\\n', ' ').split('\n'))
  .filter((line) => line.startsWith('node --'))

const container: string[] = JSON.parse(
  /^ENTRYPOINT (.*)$/m.exec(readRoot('operations/Containerfile'))?.[1] ?? '[]',
)

describe('the server needs no flag of Node', () => {
  test('in the scripts that start it, nor in its own first line', () => {
    expect(scripts.map(({ name }) => name)).toEqual(['start', 'server'])
    for (const { command } of scripts) expect(command).toBe(`node apps/server/${PROGRAM}`)
    expect(readRoot(`apps/server/${PROGRAM}`)).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(readRoot('apps/server/src/main.ts')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  test('but for those of the permission model, the same wherever it is documented', () => {
    const flags = nodeFlagsOf(unitCommand())
    expect(flags[0]).toBe('--permission')
    expect(flags).not.toContain('--allow-net')
    for (const flag of flags.slice(1)) expect(flag).toMatch(/^--(?:allow-|disable-warning=PERM)/)
    expect(nodeFlagsOf(container.join(' '))).toEqual(flags)
    for (const command of documented) expect(nodeFlagsOf(command)).toEqual(flags)
  })
})

test('in none of its threads an object has __proto__', async () => {
  const script = `process.on('exit', () => require('node:fs').writeSync(2, 'inherits: ' + ('__proto__' in {}) + ';'))`
  const program = `import { createRequire } from 'node:module'; const require = createRequire('/'); ${script}`
  const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(program)}`]
  const server = await startServerProcess({ nodeFlags })
  await server.client.createPlant({ id: 1, name: 'Fern' })
  const { err } = await server.end()
  const said = err.match(/inherits: \w+/g) ?? []
  expect(said.length).toBeGreaterThanOrEqual(2)
  expect(new Set(said)).toEqual(new Set(['inherits: false']))
})
