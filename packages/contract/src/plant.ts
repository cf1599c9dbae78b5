import * as z from 'zod/mini'

/** Smallest id: −2^63, the lower end of int64 (OpenAPI format registry, `int64`). */
export const INT64_MIN = -(2n ** 63n)

/** Largest id: 2^63−1, the upper end of int64 (OpenAPI format registry, `int64`). */
export const INT64_MAX = 2n ** 63n - 1n

/**
 * Text that every store can hold and give back unchanged: Unicode scalar values except U+0000.
 * PostgreSQL's text has no U+0000, and a lone surrogate has no UTF-8 form (RFC 3629 §3).
 */
export const STORABLE_TEXT = /^[^\u0000\uD800-\uDFFF]*$/u

function requiredOr(rule: string): (issue: { input?: unknown }) => string {
  return (issue) => (issue.input === undefined ? 'is required' : rule)
}

const text = z
  .string({ error: requiredOr('must be a string') })
  .check(z.regex(STORABLE_TEXT, 'must be well-formed Unicode without U+0000'))

function isInt64(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= INT64_MAX
  // A double beyond 2^53 may stand for its neighbours, so it is no exact integer.
  return Number.isSafeInteger(value)
}

const id = z.pipe(
  z
    .custom<number | bigint>(isInt64, {
      error: requiredOr(`must be an integer between ${INT64_MIN} and ${INT64_MAX}`),
    })
    .check(z.meta({ type: 'integer', format: 'int64' })),
  z.transform((value) => BigInt(value)),
)

/** A plant in a response: `name`, and `tag` where the plant has one. */
export const Plant = z.object({ name: text, tag: z.optional(text) })
export type Plant = z.infer<typeof Plant>

/**
 * A plant in a request: a Plant with the `id` that the caller chose.
 * Takes a safe integer or a bigint as `id` and gives a bigint; other members are dropped.
 */
export const NewPlant = z.object(
  { id, ...Plant.shape },
  { error: 'must be a JSON object with id and name' },
)
/** A NewPlant as a caller may write it, its id a safe integer or a bigint. */
export type NewPlantInput = z.input<typeof NewPlant>
/** A NewPlant after validation, its id a bigint. */
export type NewPlant = z.output<typeof NewPlant>

const MAX_PROBLEMS_SHOWN = 5

/** A rule that a value broke, in the shape that zod and Standard Schema share. */
export interface Problem {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

function describeProblem({ path, message }: Problem): string {
  const keys = (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))
  return `${keys.join('.') || 'body'}: ${message}`
}

/** Names the first five problems by path and rule: `id: is required; name: must be a string`. */
export function describeProblems(problems: readonly Problem[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map(describeProblem)
  const hidden = problems.length - shown.length
  return shown.join('; ') + (hidden > 0 ? `; and ${hidden} more` : '')
}
