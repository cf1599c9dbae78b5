import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../hostile/needs.ts'
import { type RealServer, startRealServer } from '../hostile/real-server.ts'
import { findRuntimes } from '../hostile/runtimes.ts'
import { ARE_THE_TYPES_WRONG, compile, compilers } from './compilers.ts'
import { createProject, type Project, pack, pathOf } from './packages.ts'

/** Many times what a compiler takes. */
const TIMEOUT_MS = 180_000

const STORE = `
const { createPlantStoreClient } = await import('@plant-store/client')
console.log(JSON.stringify(await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' })))`

const REQUIRE = `console.log(typeof require('@plant-store/client').createPlantStoreClient)`

const run = promisify(execFile)

let project: Project
let server: RealServer
let tarball: string

beforeAll(async () => {
  project = createProject((folder) => {
    tarball = pack(pathOf('..'), folder)
    return [tarball]
  })
  server = await startRealServer()
}, TIMEOUT_MS)

afterAll(async () => {
  project[Symbol.dispose]()
  await server.endAndRead()
})

describe('the packed client', () => {
  test('brings no other package', { timeout: TIMEOUT_MS }, () => {
    const tree = execFileSync('npm', ['ls', '--all', '--parseable'], { cwd: project.folder })
    expect(tree.toString().trim().split('\n').slice(1)).toEqual([
      join(project.folder, 'node_modules/@plant-store/client'),
    ])
  })

  test('is one module, its declarations, and words', () => {
    const files = project.filesOf('@plant-store/client')
    expect(files.filter((file) => !file.endsWith('.d.ts'))).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'THIRD-PARTY-LICENSES.md',
      'dist/index.js',
      'hostile/results.md',
      'package.json',
    ])
  })

  test('imports nothing but its own files, neither in code nor in declarations', () => {
    const files = project.filesOf('@plant-store/client').filter((file) => /\.(?:js|ts)$/.test(file))
    const folder = join(project.folder, 'node_modules/@plant-store/client')
    const imports = files.flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      return Array.from(text.matchAll(/\b(?:from|import)[ (]*(['"])(.+?)\1/g), ([, , name]) => name)
    })
    expect(imports).toContain('./client.ts')
    expect(imports.filter((name) => !name?.startsWith('./'))).toEqual([])
  })
})

describe('a program that has installed the client', () => {
  for (const { title, kind, program = '' } of findRuntimes()) {
    if (kind !== 'node') continue

    test(`stores a plant on ${title}`, {
      ...needs(title, program !== ''),
      timeout: TIMEOUT_MS,
    }, async () => {
      const { port, token } = server
      const { stdout } = await run(program, ['--input-type=module', '--eval', STORE], {
        cwd: project.folder,
        env: { PLANT_STORE_BASE_URL: `http://127.0.0.1:${port}`, PLANT_STORE_TOKEN: token },
      })
      expect(JSON.parse(stdout)).toEqual({ name: 'Fern' })
    })

    test(`may be CommonJS on ${title}`, {
      ...needs(title, program !== ''),
      timeout: TIMEOUT_MS,
    }, async () => {
      const args = ['--input-type=commonjs', '--eval', REQUIRE]
      const { stdout } = await run(program, args, { cwd: project.folder })
      expect(stdout).toBe('function\n')
    })
  }

  for (const compiler of compilers) {
    test.each(['nodenext', 'bundler'] as const)(
      `compiles at the strictest of ${compiler.title}, modules found as %s`,
      { ...needs(compiler.title, compiler.isInstalled), timeout: TIMEOUT_MS },
      async (resolution) => {
        expect(await compile(compiler, project.folder, 'client.ts', resolution)).toBe('')
      },
    )
  }

  test('finds types wherever it finds code', {
    ...needs('are-the-types-wrong', existsSync(ARE_THE_TYPES_WRONG)),
    timeout: TIMEOUT_MS,
  }, async () => {
    const args = [ARE_THE_TYPES_WRONG, tarball, '--profile', 'esm-only']
    expect((await run(process.execPath, args)).stdout).toContain('🟢')
  })
})
