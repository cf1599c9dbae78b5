import {
  contract,
  decodeJson,
  describeProblems,
  encodeJson,
  ErrorBody as errorBodySchema,
  SUCCESS_STATUS,
} from '@plant-store/contract'
import type { ErrorBody, NewPlant, NewPlantInput, Plant } from './contract-types.ts'
import { PlantStoreInputError } from './errors/input-error.ts'
import type { PlantStoreIssue } from './errors/plant-store-error.ts'

/** What the body of a reply holds, by its status. */
export type DecodedReply =
  | { readonly plant: Plant | undefined }
  | { readonly errorBody: ErrorBody }
  | { readonly issues: readonly PlantStoreIssue[]; readonly isJson: boolean }

const { body: requestSchema, responses } = contract.createPlant
const replySchema = responses[SUCCESS_STATUS]

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
  return problems.map((problem) =>
    problem.path[0] === ID
      ? { ...problem, message: `${LOST_DIGITS} (${problem.message})` }
      : problem,
  )
}

/**
 * The plant as the contract has it, and nothing else that the caller gave.
 * @throws PlantStoreInputError for what is no plant.
 */
export function parsePlant(plant: NewPlantInput): NewPlant {
  let problems: readonly Problem[]
  try {
    const { data, error } = requestSchema.safeParse(plant)
    if (error === undefined) return data
    problems = explainProblems(plant, error.issues)
  } catch {
    problems = [{ path: [], message: 'could not be read' }]
  }
  const message = `nothing was sent: ${describeProblems(problems)}`
  throw new PlantStoreInputError(message, toIssues(problems))
}

/**
 * The fields that the request and the reply of the contract share. A field whose type in the reply
 * cannot hold what was sent does not compile.
 */
type Shared = Pick<Plant, keyof Plant & keyof NewPlant>
const shared = Object.keys(replySchema.shape).filter((name) => name in requestSchema.shape)

/** The server repeats the name and the tag; what repeats the id as well only echoes the request. */
const ECHO: DecodedReply = {
  isJson: true,
  issues: [
    { path: [ID], message: 'is in no reply of the plant store: this is an echo of the request' },
  ],
}

/** The server repeats what it was sent, unchanged: any other plant is somebody else's reply. */
function compare(plant: Plant, sent: Shared): DecodedReply {
  const changed = shared.filter((name) => {
    const [one, other] = [plant[name as keyof Shared], sent[name as keyof Shared]]
    return one !== other && encodeJson({ _: one }) !== encodeJson({ _: other })
  })
  const issues = changed.map((name) => ({ path: [name], message: 'is not what was sent' }))
  return issues.length === 0 ? { plant } : { isJson: true, issues }
}

/** What a body means that came with a status. Never throws. */
export function decodeReply(status: number, bytes: Uint8Array, sent: NewPlant): DecodedReply {
  let value: unknown
  try {
    value = decodeJson(bytes)
  } catch (thrown) {
    const message = `the body ${(thrown as Error).message}`
    return { isJson: false, issues: [{ path: [], message }] }
  }
  if (status === SUCCESS_STATUS) {
    if (Object.hasOwn(Object(value), ID)) return ECHO
    const { data, error } = replySchema.safeParse(value)
    return error === undefined
      ? compare(data, sent)
      : { isJson: true, issues: toIssues(error.issues) }
  }
  const { data, error } = errorBodySchema.safeParse(value)
  return error === undefined
    ? { errorBody: data }
    : { isJson: true, issues: toIssues(error.issues) }
}
