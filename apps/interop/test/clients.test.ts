import { execFile, spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import validCases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { startRestartableServer } from '../../../test/restartable-server.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'

/** Compilers of whole dependency trees need minutes on a machine that has other work. */
const MAKING_MS = 900_000

/** Each is a folder of `clients`; `needs`: command lines that end with 0 where it can be made. */
const CLIENTS = [
  { name: 'typescript', needs: ['npm --version', "node -e 'JSON.rawJSON(1)'"] },
  { name: 'go', needs: ['go version'] },
  { name: 'python', needs: ['python3 -m venv --help'] },
  { name: 'java', needs: ['javac --version', 'mvn --version', 'python3 -m venv --help'] },
]

interface SentPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string
}

/** The plants of the contract's cases, each once, with an id of its own. */
function plantsOfCases(): SentPlant[] {
  const texts = new Set<string>()
  const ids = new Set<bigint>()
  const plants: SentPlant[] = []
  for (const { plant } of validCases) {
    const text = JSON.stringify(plant)
    if (texts.has(text)) continue
    texts.add(text)
    let id = BigInt(plant.id)
    while (ids.has(id)) id += 1n
    ids.add(id)
    plants.push({ ...plant, id })
  }
  return plants
}

async function runScript(
  folder: string,
  script: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<string> {
  const options = { cwd: folder, env: { ...env, ...more }, maxBuffer: 2 ** 26 }
  return (await promisify(execFile)('bash', ['-eu', script, ...args], options)).stdout
}

const CASES = plantsOfCases()

describe.each(CLIENTS)('the client in $name', async ({ name: client, needs: lines }) => {
  const missing = lines.filter((line) => spawnSync('sh', ['-c', line]).status !== 0)
  const needed = needs(missing.join(' and '), missing.length === 0)
  const folder = temporaryFolder(afterAll)
  const server = await startRestartableServer([], afterAll)

  /** What the program prints for a plant. */
  async function create({ id, name, tag }: SentPlant, token = server.token): Promise<unknown> {
    const args = [String(id), name, ...(tag === undefined ? [] : [tag])]
    const more = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: token }
    return JSON.parse(await runScript(folder, 'run.sh', args, more))
  }

  beforeAll(async () => {
    if (missing.length > 0) return
    cpSync(join(import.meta.dirname, '../clients', client), folder, { recursive: true })
    await runScript(folder, 'make.sh', [], { DOCUMENT: `${server.url}/openapi.json` })
  }, MAKING_MS)

  test.each(CASES)('keeps every digit and letter of $id $name', needed, async (plant) => {
    const { id, ...stored } = plant
    expect(await create(plant)).toEqual({ stored })
    expect(server.readPlants().get(id)?.name).toBe(plant.name)
  })

  test('reads the number of a refusal', needed, async () => {
    const [{ id } = { id: 0n }] = CASES
    const message = expect.stringContaining('is taken')
    expect(await create({ id, name: 'another' })).toEqual({ error: 40003, message })
    const unauthenticated = await create({ id: 1001n, name: 'Fern' }, 'none')
    expect(unauthenticated).toEqual({ error: 40101, message: expect.any(String) })
    expect(server.readPlants().has(1001n)).toBe(false)
  })
})
