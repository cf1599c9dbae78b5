import {
  contract,
  decodeJson,
  describeProblems,
  encodeJson,
  ErrorBody as errorBodySchema,
  headerNames,
  type JsonWritable,
  SUCCESS_STATUS,
} from '@plant-store/contract'
import type { NewPlant, NewPlantInput, Plant } from './contract-types.ts'
import { PlantStoreError, type PlantStoreIssue } from './errors.ts'
import type { Scrub } from './scrubber.ts'

/** A request that may be sent several times, the same bytes each time. */
export interface Sent {
  readonly url: URL
  readonly body: string
  /** The plant in the body; undefined for what is never a plant. */
  readonly plant: NewPlant | undefined
  readonly requestId: string
  /** Hides what no error or event may show. */
  readonly scrub: Scrub
}

/** What arrives of a response before its body. */
export interface ResponseHead {
  readonly status: number
  readonly headers: Headers
}

const { body: requestSchema, responses } = contract.createPlant
const plantSchema = responses[SUCCESS_STATUS]

/** An issue of zod, as far as it is used. */
type Problem = { readonly path: readonly PropertyKey[]; readonly message: string }

function toIssues(problems: readonly Problem[]): PlantStoreIssue[] {
  return problems.map(({ path, message }) => ({ path: path.map(String), message }))
}

/** The plant as the contract has it, and nothing else that the caller gave; an error for what is no plant. */
export function parsePlant(plant: NewPlantInput): NewPlant | PlantStoreError {
  let problems: readonly Problem[] = [{ path: [], message: 'could not be read' }]
  let advice = ''
  try {
    const { data, error } = requestSchema.safeParse(plant)
    if (error === undefined) return data
    problems = error.issues
    const { id } = Object(plant) as Partial<NewPlantInput>
    if (Number.isInteger(id) && !Number.isSafeInteger(id)) {
      advice = 'give a bigint, since a number beyond 2^53 has lost digits already; '
    }
  } catch {
    // A member of it threw.
  }
  const message = `nothing was sent: ${advice}${describeProblems(problems)}`
  return new PlantStoreError('invalid_plant', message, { issues: toIssues(problems) })
}

/**
 * The fields that the request and the response of the contract share. A field whose type in the
 * response cannot hold what was sent does not compile.
 */
type Shared = Pick<Plant, keyof Plant & keyof NewPlant>
const shared = Object.keys(plantSchema.shape).filter(
  (name) => name in requestSchema.shape,
) as (keyof Shared)[]

/** The body by which the server says that it has stored a plant, as far as it repeats what was sent. */
export function encodeStored(sent: Shared): string {
  const fields = shared.map((name) => [name, sent[name]] as const)
  return encodeJson(Object.fromEntries(fields.filter(([, value]) => value !== undefined)))
}

/**
 * Whether a body only repeats the request, under headers that are not those of the plant store. It
 * names each request, and takes a count of retries that it never gives back.
 */
function isEcho({ headers }: ResponseHead, value: unknown, body: string): boolean {
  const isOwn = headers.has(headerNames.requestId) && !headers.has(headerNames.retryCount)
  return !isOwn && encodeJson(value as JsonWritable) === body
}

/** What the body of a response to a request holds, or what is wrong with it. Never throws. */
export function decodeResponse(head: ResponseHead, text: string, { plant, body }: Sent) {
  let value: unknown
  try {
    value = decodeJson(new TextEncoder().encode(text))
  } catch (thrown) {
    return { issues: [{ path: [], message: `the body ${(thrown as Error).message}` }] }
  }
  if (head.status !== SUCCESS_STATUS) {
    const { data, error } = errorBodySchema.safeParse(value)
    return error === undefined ? { errorBody: data } : { issues: toIssues(error.issues) }
  }
  const { data, error } = plantSchema.safeParse(value)
  if (error !== undefined) return { issues: toIssues(error.issues) }
  if (isEcho(head, value, body))
    return { issues: [{ path: [], message: 'it is an echo of the request' }] }
  // The server repeats what it was sent, unchanged: any other plant is somebody else's response.
  const changed = shared.filter((name) => data[name] !== plant?.[name])
  const issues = changed.map((name) => ({ path: [name], message: 'is not what was sent' }))
  return issues.length === 0 ? { plant: data } : { issues }
}
