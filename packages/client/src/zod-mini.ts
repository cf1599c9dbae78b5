/**
 * The part of `zod/mini` that the contract is written with, made small. The build puts it in the
 * place of zod, so the published client checks by the schemas of the contract itself: the same
 * values, and the same paths and messages for what is wrong. What is not here, or takes other
 * arguments than here, does not compile with `contract/tsconfig.json`, which the build does.
 */

/** Where a value breaks a rule, and the rule. */
export interface Problem {
  readonly path: PropertyKey[]
  readonly message: string
}

type Message = string | ((problem: { readonly input: unknown }) => string)
type Params = string | { readonly error: Message }

const NO_WORDS = 'Invalid input'

function toProblem(params: Params = NO_WORDS, input?: unknown): Problem {
  const error = typeof params === 'string' ? params : params.error
  return { path: [], message: typeof error === 'string' ? error : error({ input }) }
}

/** Gives what becomes of the value; what is wrong goes to the problems. */
type Run = (value: unknown, problems: Problem[]) => unknown

type Parsed<Output> =
  | { readonly success: true; readonly data: Output; readonly error?: undefined }
  | {
      readonly success: false
      readonly data?: undefined
      readonly error: { readonly issues: readonly Problem[] }
    }

/** What takes a value or says what is wrong with it. */
export interface Schema<Output = unknown> {
  readonly run: Run
  safeParse(value: unknown): Parsed<Output>
}

function schema<Output>(run: Run): Schema<Output> {
  return {
    run,
    safeParse(value) {
      const issues: Problem[] = []
      const data = run(value, issues) as Output
      return issues.length > 0 ? { success: false, error: { issues } } : { success: true, data }
    },
  }
}

/** One more rule for a value whose type is right already. */
type Check<Output> = (value: Output, problems: Problem[]) => void

/** A schema that takes more rules, once. */
interface Checkable<Output> extends Schema<Output> {
  check(...checks: readonly Check<Output>[]): Schema<Output>
}

/** A schema for the values that a test takes. */
function checkable<Output>(
  isValid: (value: unknown) => boolean,
  params?: Params,
): Checkable<Output> {
  const run: Run = (value, problems) => {
    if (!isValid(value)) problems.push(toProblem(params, value))
    return value
  }
  const check: Checkable<Output>['check'] = (...checks) =>
    schema((value, problems) => {
      const before = problems.length
      run(value, problems)
      if (problems.length === before) {
        for (const further of checks) further(value as Output, problems)
      }
      return value
    })
  return { ...schema<Output>(run), check }
}

export const string = (params?: Params): Checkable<string> =>
  checkable((value) => typeof value === 'string', params)

export const regex =
  (pattern: RegExp, params: Params): Check<string> =>
  (value, problems) => {
    pattern.lastIndex = 0
    if (!pattern.test(value)) problems.push(toProblem(params, value))
  }

const INT32_END = 2 ** 31

export const int32 = (params?: Params): Schema<number> =>
  checkable(
    (value) => Number.isInteger(value) && Number(value) >= -INT32_END && Number(value) < INT32_END,
    params,
  )

/** Words for a document, which change nothing here. */
export const meta =
  (_words: Readonly<Record<string, unknown>>): Check<unknown> =>
  () => {}

export const custom = <Output>(
  isValid: (value: unknown) => boolean,
  params?: Params,
): Checkable<Output> => checkable(isValid, params)

/** What becomes of a value that a schema before it took. */
type Transform<Input, Output> = (value: Input) => Output

export const transform = <Input, Output>(
  change: Transform<Input, Output>,
): Transform<Input, Output> => change

export const pipe = <Input, Output>(
  first: Schema<Input>,
  then: Transform<Input, Output>,
): Schema<Output> =>
  schema((value, problems) => {
    const before = problems.length
    const taken = first.run(value, problems)
    return problems.length === before ? then(taken as Input) : taken
  })

export const nullable = <Output>({ run }: Schema<Output>): Schema<Output | null> =>
  schema((value, problems) => (value === null ? null : run(value, problems)))

/** A member that may be missing. */
interface Optional<Output> {
  readonly run: Run
  readonly isOptional: true
  readonly output?: Output
}

export const optional = <Output>({ run }: Schema<Output>): Optional<Output> => ({
  run: (value, problems) => (value === undefined ? value : run(value, problems)),
  isOptional: true,
})

type Shape = Readonly<Record<string, Schema | Optional<unknown>>>

interface ObjectSchema<Members extends Shape> extends Schema {
  readonly shape: Members
  readonly params: Params | undefined
}

function readMembers(shape: Shape, input: object, problems: Problem[]): Record<string, unknown> {
  const output: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(shape)) {
    const before = problems.length
    const value = member.run((input as Record<string, unknown>)[key], problems)
    const isPresent = key in input
    if (!isPresent && 'isOptional' in member) {
      problems.length = before
      continue
    }
    for (const { path } of problems.slice(before)) path.unshift(key)
    if (isPresent) output[key] = value
    else if (problems.length === before) problems.push({ path: [key], message: NO_WORDS })
  }
  return output
}

/** The members of the shape; others are dropped. */
export const object = <Members extends Shape>(
  shape: Members,
  params?: Params,
): ObjectSchema<Members> => {
  const run: Run = (value, problems) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return readMembers(shape, value, problems)
    }
    problems.push(toProblem(params, value))
    return undefined
  }
  return { ...schema(run), shape, params }
}

export const extend = <Members extends Shape, More extends Shape>(
  { shape, params }: ObjectSchema<Members>,
  more: More,
): ObjectSchema<Members & More> => object({ ...shape, ...more }, params)

export const pick = <Members extends Shape, Name extends keyof Members>(
  { shape, params }: ObjectSchema<Members>,
  mask: { readonly [Picked in Name]: true },
): ObjectSchema<Pick<Members, Name>> => {
  const names = Object.keys(mask) as Name[]
  const members = Object.fromEntries(names.map((name) => [name, shape[name]]))
  return object(members as Pick<Members, Name>, params)
}

/** The compiler of the contract asks for these names; its own build says what they are. */
export type input<_Schema> = unknown
export type output<_Schema> = unknown
export type infer<_Schema> = unknown
