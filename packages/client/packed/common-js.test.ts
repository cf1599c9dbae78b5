import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../runtimes/needs.ts'
import { type RealServer, startRealServer } from '../runtimes/real-server.ts'
import { findRuntimes } from '../runtimes/runtimes.ts'
import { compile, compilers } from './compilers.ts'
import { createProject, findTool, type Project, pack, packInstalled, pathOf } from './packages.ts'

const STORE = `
const { createPlantStoreClient, PlantStoreInputError } = require('@plant-store/client')
const { createRestClient } = require('@plant-store/client/rest')
async function store() {
  const { name } = await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' })
  const rest = await createRestClient().createPlant({ body: { id: 2n ** 63n - 1n, name: 'Moss' } })
  const failure = await createRestClient().createPlant({ body: {} }).catch((error) => error)
  console.log(name, rest.body.name, failure instanceof PlantStoreInputError)
}
store()`

const run = promisify(execFile)

let project: Project
let server: RealServer

beforeAll(async () => {
  project = createProject((folder) => [
    pack(pathOf('..'), folder),
    packInstalled(pathOf('../node_modules/@ts-rest/core'), folder),
  ])
  writeFileSync(join(project.folder, 'package.json'), '{"private":true}')
  server = await startRealServer()
})

afterAll(async () => {
  project[Symbol.dispose]()
  await server.endAndRead()
})

function environment(): NodeJS.ProcessEnv {
  return {
    PLANT_STORE_BASE_URL: server.url,
    PLANT_STORE_TOKEN: server.token,
  }
}

describe('a CommonJS program', () => {
  for (const { title, kind, program = '' } of findRuntimes()) {
    if (kind !== 'node') continue

    // What Node.js 20.0 has not: there require takes no module.
    const flags = title === 'Node.js 20' ? [] : ['--no-experimental-require-module']
    test(`stores plants on ${title}`, needs(title, program !== ''), async () => {
      const args = [...flags, '--input-type=commonjs', '--eval', STORE]
      const { stdout } = await run(program, args, { cwd: project.folder, env: environment() })
      expect(stdout).toBe('Fern Moss true\n')
    })
  }

  for (const compiler of compilers) {
    const resolutions = ['node16', 'nodenext', 'node10'] as const
    // TypeScript 7 knows node10 no more.
    test.each(resolutions.slice(0, compiler.title === 'TypeScript 7' ? 2 : 3))(
      `compiles at the strictest of ${compiler.title}, modules found as %s`,
      needs(compiler.title, compiler.isInstalled),
      async (resolution) => {
        expect(await compile(compiler, project.folder, 'common.cts', { resolution })).toBe('')
      },
    )
  }
})

/** A test of somebody's program, which Jest runs as CommonJS, as it does without further settings. */
const JEST_TEST = `
const { createPlantStoreClient } = require('@plant-store/client')
test('a plant is stored', async () => {
  const fetch = jest.fn(async () => Response.json({ name: 'Fern' }))
  const client = createPlantStoreClient({ baseUrl: 'http://plants.example', token: 'token', fetch })
  await expect(client.createPlant({ id: 7, name: 'Fern' })).resolves.toEqual({ name: 'Fern' })
  await expect(createPlantStoreClient().createPlant({ id: 8, name: 'Aloe' })).resolves.toEqual({ name: 'Aloe' })
  expect(fetch.mock.calls[0][1].body).toBe('{"id":7,"name":"Fern"}')
})`

const JEST = findTool('jest')

test(
  "Jest runs a test that requires it, with jest's own defaults",
  needs('jest', JEST !== undefined),
  async () => {
    writeFileSync(join(project.folder, 'plants.test.js'), JEST_TEST)
    const args = [`${JEST}/bin/jest.js`, '--rootDir', project.folder, '--no-watchman', '--no-cache']
    const { stderr } = await run(process.execPath, args, {
      cwd: project.folder,
      env: environment(),
    })
    expect(stderr).toContain('1 passed')
    expect(server.readNames().get(8n)).toBe('Aloe')
  },
)
