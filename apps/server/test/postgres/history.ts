import type { NewPlantInput } from '@plant-store/client'
import type { RestClient } from '@plant-store/client/rest'

/** What one request for a plant was answered. */
type Reply = 'stored' | 'taken' | 'not_stored' | 'unknown'

type Content = Pick<NewPlantInput, 'name' | 'tag'>

interface Request {
  readonly content: Content
  reply: Reply
}

/** A plant as it lies in the database, its id in decimal digits. */
export interface StoredRow {
  readonly id: string
  readonly name: string
  readonly tag: string | null
}

/** What is wrong with a history, and how much of it there was. Ids are listed where a rule is broken. */
export interface Verdict {
  readonly acknowledged: number
  readonly taken: number
  /** Requests that were answered in any other way. */
  readonly notStored: number
  readonly unknown: number
  /** Answered 200 and not there. */
  readonly lost: readonly bigint[]
  /** There with content that nobody sent, or with other content than was answered 200. */
  readonly altered: readonly bigint[]
  /** Two rows, or two contents that were both answered 200. */
  readonly doubled: readonly bigint[]
  /** There although every reply said that it was not stored; or "taken" by nothing. */
  readonly lies: readonly bigint[]
}

/** Such as a TestClient. */
export interface Caller {
  readonly rest: RestClient
}

/** Every request and its reply, of any number of servers and callers. */
export interface History {
  readonly slowestMs: number
  readonly acknowledged: number
  /** Sends one plant once. */
  send(client: Caller, plant: NewPlantInput & { id: bigint }): Promise<Reply>
  judge(rows: readonly StoredRow[]): Verdict
}

const ID_TAKEN = 40_003

function isSame(content: Content, row: StoredRow): boolean {
  return content.name === row.name && (content.tag ?? null) === row.tag
}

async function ask(client: Caller, body: NewPlantInput): Promise<Reply> {
  try {
    const reply = await client.rest.createPlant({ body })
    if (reply.status === 200) return 'stored'
    if (reply.body.error === ID_TAKEN) return 'taken'
    const isSure = reply.status < 500 || reply.status === 503 || reply.body.error === 50_000
    return isSure ? 'not_stored' : 'unknown'
  } catch {
    return 'unknown'
  }
}

type Broken = 'lost' | 'altered' | 'doubled' | 'lies'

function judgeOne(requests: readonly Request[], rows: readonly StoredRow[]): Broken | undefined {
  const [row] = rows
  const stored = requests.filter(({ reply }) => reply === 'stored')
  const isOfOne = stored.every(({ content }) => content.name === stored[0]?.content.name)
  if (rows.length > 1 || !isOfOne) return 'doubled'
  if (row === undefined) {
    if (stored.length > 0) return 'lost'
    return requests.some(({ reply }) => reply === 'taken') ? 'lies' : undefined
  }
  const same = requests.filter(({ content }) => isSame(content, row))
  if (same.length === 0 || stored.some(({ content }) => !isSame(content, row))) return 'altered'
  return same.every(({ reply }) => reply === 'not_stored' || reply === 'taken') ? 'lies' : undefined
}

/** Records requests and replies, and holds them against what is stored in the end. */
export function createHistory(): History {
  const byId = new Map<bigint, Request[]>()
  let slowestMs = 0
  let acknowledged = 0

  return {
    get slowestMs() {
      return slowestMs
    },
    get acknowledged() {
      return acknowledged
    },
    async send(client, plant) {
      const { id, ...content } = plant
      const request: Request = { content, reply: 'unknown' }
      const requests = byId.get(id)
      if (requests === undefined) byId.set(id, [request])
      else requests.push(request)
      const begin = performance.now()
      const reply = await ask(client, plant)
      slowestMs = Math.max(slowestMs, performance.now() - begin)
      if (reply === 'stored') acknowledged++
      request.reply = reply
      return reply
    },
    judge(rows) {
      const broken: Record<Broken, bigint[]> = { lost: [], altered: [], doubled: [], lies: [] }
      const stored = Map.groupBy(rows, ({ id }) => BigInt(id))
      for (const id of new Set([...byId.keys(), ...stored.keys()])) {
        const how = judgeOne(byId.get(id) ?? [], stored.get(id) ?? [])
        if (how !== undefined) broken[how].push(id)
      }
      const requests = [...byId.values()].flat()
      const count = (wanted: Reply) => requests.filter(({ reply }) => reply === wanted).length
      return {
        acknowledged: count('stored'),
        taken: count('taken'),
        notStored: count('not_stored'),
        unknown: count('unknown'),
        ...broken,
      }
    },
  }
}
