import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../runtimes/needs.ts'
import { type RealServer, startRealServer } from '../runtimes/real-server.ts'
import { findRuntimes } from '../runtimes/runtimes.ts'
import { ARE_THE_TYPES_WRONG, compile, compilers } from './compilers.ts'
import { createProject, type Project, pack, packInstalled, pathOf } from './packages.ts'

const STORE = `
const { createPlantStoreClient } = await import('@plant-store/client')
console.log(JSON.stringify(await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' })))`

const STORE_BY_REST = `
const { PlantStoreError } = await import('@plant-store/client')
const { createRestClient } = await import('@plant-store/client/rest')
const rest = createRestClient()
const { status, body } = await rest.createPlant({ body: { id: 2n ** 63n - 1n, name: 'Moss' } })
const failure = await rest.createPlant({ body: {} }).catch((error) => error)
console.log(JSON.stringify([status, body, failure instanceof PlantStoreError]))`

const run = promisify(execFile)

let project: Project
/** It has @ts-rest/core as well. */
let restProject: Project
let server: RealServer
let tarball: string

beforeAll(async () => {
  project = createProject((folder) => {
    tarball = pack(pathOf('..'), folder)
    return [tarball]
  })
  restProject = createProject((folder) => [
    tarball,
    packInstalled(pathOf('../node_modules/@ts-rest/core'), folder),
  ])
  server = await startRealServer()
})

afterAll(async () => {
  project[Symbol.dispose]()
  restProject[Symbol.dispose]()
  await server.endAndRead()
})

/** What a module prints that runs in a project, its environment set to the server. */
async function runModule(program: string, { folder }: Project, module: string): Promise<unknown> {
  const { stdout } = await run(program, ['--input-type=module', '--eval', module], {
    cwd: folder,
    env: {
      PLANT_STORE_BASE_URL: `http://127.0.0.1:${server.port}`,
      PLANT_STORE_TOKEN: server.token,
    },
  })
  return JSON.parse(stdout)
}

describe('the packed client', () => {
  test('brings no other package', () => {
    const tree = execFileSync('npm', ['ls', '--all', '--parseable'], { cwd: project.folder })
    expect(tree.toString().trim().split('\n').slice(1)).toEqual([
      join(project.folder, 'node_modules/@plant-store/client'),
    ])
  })

  test('is two entries, one declaration of each, the module that they share, and words', () => {
    const files = project.filesOf('@plant-store/client')
    expect(files).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/cjs/index.d.ts',
      'dist/cjs/index.js',
      'dist/cjs/package.json',
      'dist/cjs/rest.d.ts',
      'dist/cjs/rest.js',
      'dist/cjs/shared.js',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/rest.d.ts',
      'dist/rest.js',
      'dist/shared.js',
      'package.json',
    ])
  })

  test('imports nothing but its own files, and ts-rest in /rest alone', () => {
    const files = project.filesOf('@plant-store/client').filter((file) => /\.(?:js|ts)$/.test(file))
    const folder = join(project.folder, 'node_modules/@plant-store/client')
    const imports = files.flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const names = text.matchAll(/\b(?:from|import|require)[ (]*(['"])(.+?)\1/g)
      return Array.from(names, ([, , name = '']) => [file, name] as const)
    })
    expect(imports).toEqual([
      ['dist/cjs/index.js', './shared.js'],
      ['dist/cjs/rest.d.ts', '@ts-rest/core'],
      ['dist/cjs/rest.js', './shared.js'],
      ['dist/cjs/rest.js', '@ts-rest/core'],
      ['dist/index.js', './shared.js'],
      ['dist/rest.d.ts', '@ts-rest/core'],
      ['dist/rest.js', './shared.js'],
      ['dist/rest.js', '@ts-rest/core'],
    ])
  })
})

describe('a program that has installed the client', () => {
  for (const { title, kind, program = '' } of findRuntimes()) {
    if (kind !== 'node') continue

    test(`stores a plant on ${title}`, needs(title, program !== ''), async () => {
      expect(await runModule(program, project, STORE)).toEqual({ name: 'Fern' })
    })

    test(
      `stores a plant by ts-rest on ${title}, its id exact`,
      needs(title, program !== ''),
      async () => {
        expect(await runModule(program, restProject, STORE_BY_REST)).toEqual([
          200,
          { name: 'Moss' },
          true,
        ])
        expect(server.readNames().get(2n ** 63n - 1n)).toBe('Moss')
      },
    )

    test(
      `has no /rest without @ts-rest/core on ${title}`,
      needs(title, program !== ''),
      async () => {
        await expect(runModule(program, project, STORE_BY_REST)).rejects.toThrow('@ts-rest/core')
      },
    )
  }

  for (const compiler of compilers) {
    test.each(['nodenext', 'node16', 'bundler'] as const)(
      `compiles at the strictest of ${compiler.title}, modules found as %s`,
      needs(compiler.title, compiler.isInstalled),
      async (resolution) => {
        expect(await compile(compiler, project.folder, 'client.ts', { resolution })).toBe('')
      },
    )

    test(
      `compiles with ts-rest, whose own types need skipLibCheck, at the strictest of ${compiler.title}`,
      needs(compiler.title, compiler.isInstalled),
      async () => {
        const options = { skipLibCheck: true }
        const { folder } = restProject
        expect(await compile(compiler, folder, 'rest.ts', options)).toBe('')
      },
    )
  }

  test(
    'finds types wherever it finds code',
    needs('are-the-types-wrong', existsSync(ARE_THE_TYPES_WRONG)),
    async () => {
      const args = [ARE_THE_TYPES_WRONG, tarball, '--profile', 'node16']
      expect((await run(process.execPath, args)).stdout).toContain('🟢')
    },
  )
})
