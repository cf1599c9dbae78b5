import type { NewPlantInput } from '@plant-store/client'
import type { TestClient } from '../../../../test/server-process.ts'
import type { StoredPlant } from '../../../../test/sqlite-file.ts'

/** What one request for a plant was answered. */
type Reply = 'stored' | 'taken' | 'not_stored' | 'unknown'

/**
 * What may be wrong with an id. `lost`: answered 200 and not there. `altered`: there with content that
 * nobody sent, or with other content than was answered 200. `doubled`: two rows, or two contents that
 * were both answered 200. `lies`: there although every response said that it was not stored, or
 * "taken" by nothing.
 */
type Fault = 'lost' | 'altered' | 'doubled' | 'lies'

export type Plant = NewPlantInput & { readonly id: bigint }

type Caller = Pick<TestClient, 'rest'>

type Request = Pick<Plant, 'name' | 'tag'> & { reply: Reply }

const ID_TAKEN = 40_003

async function ask({ rest }: Caller, body: NewPlantInput): Promise<Reply> {
  try {
    const { status, body: said } = await rest.createPlant({ body })
    if (status === 200) return 'stored'
    if (said.error === ID_TAKEN) return 'taken'
    const isSure = status < 500 || status === 503 || said.error === 50_000
    return isSure ? 'not_stored' : 'unknown'
  } catch {
    return 'unknown'
  }
}

function judgeOne(requests: readonly Request[], rows: readonly StoredPlant[]): Fault | undefined {
  const [row] = rows
  const stored = requests.filter(({ reply }) => reply === 'stored')
  const isOfOne = stored.every(({ name }) => name === stored[0]?.name)
  if (rows.length > 1 || !isOfOne) return 'doubled'
  if (row === undefined) {
    if (stored.length > 0) return 'lost'
    return requests.some(({ reply }) => reply === 'taken') ? 'lies' : undefined
  }
  const isSame = ({ name, tag }: Request) => name === row.name && (tag ?? null) === row.tag
  const same = requests.filter(isSame)
  if (same.length === 0 || !stored.every(isSame)) return 'altered'
  return same.every(({ reply }) => reply === 'not_stored' || reply === 'taken') ? 'lies' : undefined
}

/** Every request and its reply, of any number of servers and callers. */
export class History {
  slowestMs = 0
  /** How many plants were answered 200. */
  stored = 0
  readonly #byId = new Map<bigint, Request[]>()

  /** Sends one plant once. */
  async send(client: Caller, plant: Plant): Promise<Reply> {
    const request: Request = { name: plant.name, tag: plant.tag, reply: 'unknown' }
    this.#byId.set(plant.id, [...(this.#byId.get(plant.id) ?? []), request])
    const begin = performance.now()
    request.reply = await ask(client, plant)
    this.slowestMs = Math.max(this.slowestMs, performance.now() - begin)
    if (request.reply === 'stored') this.stored++
    return request.reply
  }

  /** The ids of plants that were answered 200. */
  storedIds(): bigint[] {
    const entries = [...this.#byId].filter(([, all]) => all.some((one) => one.reply === 'stored'))
    return entries.map(([id]) => id)
  }

  /** Holds what was answered against what is stored in the end; the ids with which something is wrong. */
  judge(rows: readonly StoredPlant[]): Record<Fault, bigint[]> {
    const verdict: ReturnType<History['judge']> = { lost: [], altered: [], doubled: [], lies: [] }
    const stored = Map.groupBy(rows, ({ id }) => id)
    for (const id of new Set([...this.#byId.keys(), ...stored.keys()])) {
      const fault = judgeOne(this.#byId.get(id) ?? [], stored.get(id) ?? [])
      if (fault !== undefined) verdict[fault].push(id)
    }
    return verdict
  }
}
