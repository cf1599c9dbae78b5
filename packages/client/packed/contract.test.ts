import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs } from '../runtimes/needs.ts'
import { findRuntimes } from '../runtimes/runtimes.ts'
import { ARE_THE_TYPES_WRONG, compile, compilers } from './compilers.ts'
import { createProject, type Project, pack, packInstalled, pathOf } from './packages.ts'

const CONTRACT = pathOf('../../contract')

const PRINT = `
import { contract, encodeJson, NewPlant } from '@plant-store/contract'
import cases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
const { method, path } = contract.createPlant
console.log(method, path, encodeJson(NewPlant.parse({ id: 7, name: 'Fern' })), cases.length > 0)`

const run = promisify(execFile)

let project: Project
let tarball: string

beforeAll(() => {
  project = createProject((folder) => {
    tarball = pack(CONTRACT, folder)
    return [tarball, packInstalled(`${CONTRACT}/node_modules/zod`, folder)]
  })
})

afterAll(() => project[Symbol.dispose]())

test('the packed contract is code, declarations, cases and words, without source maps', () => {
  const files = project.filesOf('@plant-store/contract')
  expect(files.filter((file) => !/^dist\/(?:openapi\/)?[\w-]+\.(?:js|d\.ts)$/.test(file))).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'cases/invalid.json',
    'cases/valid.json',
    'openapi.json',
    'package.json',
  ])
})

for (const { title, kind, program = '' } of findRuntimes()) {
  if (kind !== 'node') continue

  test(`it is imported on ${title}`, needs(title, program !== ''), async () => {
    const args = ['--no-warnings', '--input-type=module', '--eval', PRINT]
    const { stdout } = await run(program, args, { cwd: project.folder })
    expect(stdout).toBe('POST /plants {"id":7,"name":"Fern"} true\n')
  })
}

for (const compiler of compilers) {
  test(
    `a program that uses it compiles at the strictest of ${compiler.title}`,
    needs(compiler.title, compiler.isInstalled),
    async () => {
      expect(await compile(compiler, project.folder, 'contract.ts')).toBe('')
    },
  )
}

test(
  'a program finds its types wherever it finds its code',
  needs('are-the-types-wrong', existsSync(ARE_THE_TYPES_WRONG)),
  async () => {
    const args = [ARE_THE_TYPES_WRONG, tarball, '--profile', 'esm-only']
    expect((await run(process.execPath, args)).stdout).toContain('🟢')
  },
)
