import { execFile } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CONTRACT,
  copyWorkspace,
  SERVER,
  type WorkspaceCopy,
} from '../one-definition/workspace-copy.ts'

/** A run starts a process and sends up to 2,000 bodies; this is many times what that takes. */
const TIMEOUT_MS = 180_000

const HANDLER = `${SERVER}/src/http/create-plant.ts`
const JSON_READER = `${CONTRACT}/src/json.ts`
const BODY = 'body: compile(defined.body),'

/** The handler with another schema of the body than the contract's, so than the document's. */
function withBody(schema: string): string {
  return `body: ((NewPlant) => ${schema})(defined.body),`
}

/** The handler, taking bodies after a change that nobody asked for. */
function withChange(change: string): string {
  return withBody(`z.pipe(z.transform(${change}), NewPlant)`)
}

/** What a run says of a body that is no plant, or no JSON, and is answered as something else. */
const TAKEN = /invalid_plant, the server replies (?!400 \{\W+error\W+40002)/
const READ = /malformed_json, the server replies (?!400 \{\W+error\W+40001)/

/** The same bodies each time. */
const RUN = { PLANT_STORE_TEST_BODIES: '2000', PLANT_STORE_TEST_SEED: '1', NO_COLOR: '1' }

let copy: WorkspaceCopy

beforeAll(async () => {
  copy = copyWorkspace(['test', 'vitest.config.ts'])
  expect(await copy.build(CONTRACT)).toEqual([])
  expect(await copy.build(SERVER)).toEqual([])
}, TIMEOUT_MS)

afterAll(() => copy[Symbol.dispose]())

interface Run {
  readonly hasPassed: boolean
  readonly printed: string
}

/** Runs the property test of the copy in a process of its own. */
async function runProperties(): Promise<Run> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
  const cwd = copy.pathOf(SERVER)
  const env = { ...Object.fromEntries(inherited), ...RUN }
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'server']
  const command = [...vitest, 'test/properties/bodies.test.ts']
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd, env }, (error, output, errors) => {
      resolve({ hasPassed: error === null, printed: output + errors })
    })
  })
}

describe('the property run', () => {
  test.each<[fault: string, file: string, from: string, to: string, seen: RegExp]>([
    [
      'takes a fraction as id',
      HANDLER,
      BODY,
      withChange(
        '(body) => Number.isFinite(body?.id) ? { ...body, id: Math.trunc(body.id) } : body',
      ),
      TAKEN,
    ],
    [
      'rounds an id to a double',
      HANDLER,
      BODY,
      withChange(
        "(body) => typeof body?.id === 'bigint' ? { ...body, id: BigInt.asIntN(64, BigInt(Number(body.id))) } : body",
      ),
      /a plant, the server replies 200/,
    ],
    [
      'ignores the pattern of a name',
      HANDLER,
      BODY,
      withBody('z.object({ ...NewPlant.shape, name: z.string() })'),
      /invalid_plant, the server replies 500/,
    ],
    [
      'refuses a plant with other members',
      HANDLER,
      BODY,
      withBody('z.strictObject(NewPlant.shape)'),
      /a plant, the server replies 400/,
    ],
    ['takes one level more', JSON_READER, 'MAX_JSON_DEPTH = 64', 'MAX_JSON_DEPTH = 65', READ],
  ])('notices a server that %s', { timeout: TIMEOUT_MS }, async (_fault, file, from, to, seen) => {
    const folder = file === JSON_READER ? CONTRACT : SERVER
    copy.edit([[file, from, to]])
    // Most of these faults are errors of types as well, which are not the point here.
    await copy.build(folder)
    try {
      const { hasPassed, printed } = await runProperties()
      expect(hasPassed).toBe(false)
      expect(printed).toMatch(/PLANT_STORE_TEST_SEED=-?\d+: the document calls/)
      expect(printed).toMatch(seen)
    } finally {
      copy.restore()
      await copy.build(folder)
    }
  })
})
