import {
  contract,
  decodeJson,
  describeProblems,
  encodeJson,
  ErrorBody as errorBodySchema,
  SUCCESS_STATUS,
} from '@plant-store/contract'
import type { ErrorBody, NewPlant, NewPlantInput, Plant } from './contract-types.ts'
import { PlantStoreError, type PlantStoreIssue } from './errors.ts'

/** What the body of a response holds, by its status. */
export type Decoded =
  | { readonly plant: Plant | undefined }
  | { readonly errorBody: ErrorBody }
  | { readonly issues: readonly PlantStoreIssue[]; readonly isJson: boolean }

const { body: requestSchema, responses } = contract.createPlant
const plantSchema = responses[SUCCESS_STATUS]

/** An issue of zod, as far as it is used. */
interface Problem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

function toIssues(problems: readonly Problem[]): PlantStoreIssue[] {
  return problems.map(({ path, message }) => ({ path: path.map(String), message }))
}

const ID = 'id' satisfies keyof NewPlantInput
const LOST_DIGITS = 'give a bigint, since a number beyond 2^53 has lost digits already'

/** The problems of a plant; where its id is too large for a number, first what to do. */
function explainProblems(plant: NewPlantInput, problems: readonly Problem[]): readonly Problem[] {
  const { [ID]: id } = Object(plant) as Partial<NewPlantInput>
  if (!Number.isInteger(id) || Number.isSafeInteger(id)) return problems
  return problems.map(({ path, message }) => {
    return { path, message: path[0] === ID ? `${LOST_DIGITS} (${message})` : message }
  })
}

/**
 * The plant as the contract has it, and nothing else that the caller gave.
 * @throws PlantStoreError (`invalid_plant`) for what is no plant.
 */
export function parsePlant(plant: NewPlantInput): NewPlant {
  let problems: readonly Problem[] = [{ path: [], message: 'could not be read' }]
  try {
    const { data, error } = requestSchema.safeParse(plant)
    if (error === undefined) return data
    problems = explainProblems(plant, error.issues)
  } catch {
    // A member of it threw.
  }
  const message = `nothing was sent: ${describeProblems(problems)}`
  throw new PlantStoreError('invalid_plant', message, { issues: toIssues(problems) })
}

/**
 * The fields that the request and the response of the contract share. A field whose type in the
 * response cannot hold what was sent does not compile.
 */
type Shared = Pick<Plant, keyof Plant & keyof NewPlant>
const shared = Object.keys(plantSchema.shape).filter((name) => name in requestSchema.shape)

/** The body by which the server says that it has stored a plant, as far as it repeats what was sent. */
export function encodeStored(sent: Shared): string {
  const fields = shared.map((name) => [name, sent[name as keyof Shared]] as const)
  return encodeJson(Object.fromEntries(fields.filter(([, value]) => value !== undefined)))
}

/** The server repeats what it was sent, unchanged: any other plant is somebody else's response. */
function compare(plant: Plant, sent: Shared): Decoded {
  const changed = shared.filter(
    (name) => plant[name as keyof Shared] !== sent[name as keyof Shared],
  )
  const issues = changed.map((name) => ({ path: [name], message: 'is not what was sent' }))
  return issues.length === 0 ? { plant } : { isJson: true, issues }
}

/** The server repeats the name and the tag; what repeats the id as well only echoes the request. */
const ECHO = 'is in no response of the plant store: this is an echo of the request'

/** What a body means that came with a status. Never throws. */
export function decodeResponse(status: number, bytes: Uint8Array, sent: Shared): Decoded {
  let value: unknown
  try {
    value = decodeJson(bytes)
  } catch (thrown) {
    const message = `the body ${(thrown as Error).message}`
    return { isJson: false, issues: [{ path: [], message }] }
  }
  if (status === SUCCESS_STATUS) {
    if (Object.hasOwn(Object(value), ID)) {
      return { isJson: true, issues: [{ path: [ID], message: ECHO }] }
    }
    const { data, error } = plantSchema.safeParse(value)
    if (error === undefined) return compare(data, sent)
    return { isJson: true, issues: toIssues(error.issues) }
  }
  const { data, error } = errorBodySchema.safeParse(value)
  if (error === undefined) return { errorBody: data }
  return { isJson: true, issues: toIssues(error.issues) }
}
