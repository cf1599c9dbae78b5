import { environmentNameOf, type SettingName } from './settings.ts'

/**
 * A problem for each set of settings that are right by themselves and wrong together.
 * `isSet` tells whether a setting has another value than its default; a value that is wrong by
 * itself is undefined.
 */
export function describeConflicts(
  isSet: (name: SettingName) => boolean,
  values: Readonly<Record<string, unknown>>,
): string[] {
  return [...describeTimeouts(values), ...describeJwtSettings(isSet)]
}

function problem(name: SettingName, text: string): string {
  return `${environmentNameOf(name)}: ${text}`
}

/** A request has arrived no sooner than its headers have; Node refuses such a pair. */
function describeTimeouts(values: Readonly<Record<string, unknown>>): string[] {
  const { headersTimeoutMs: limit, requestTimeoutMs } = values
  if (!(Number(requestTimeoutMs) < Number(limit))) return []
  const headers = environmentNameOf('headersTimeoutMs')
  return [problem('requestTimeoutMs', `must not be less than ${headers}, which is ${limit}`)]
}

function describeJwtSettings(isSet: (name: SettingName) => boolean): string[] {
  const url = environmentNameOf('jwksUrl')
  const file = environmentNameOf('jwksFile')
  if (isSet('jwksUrl') && isSet('jwksFile')) {
    return [problem('jwksUrl', `cannot be set together with ${file}`)]
  }
  if (isSet('jwksUrl') || isSet('jwksFile')) {
    const needed = (['jwtIssuer', 'jwtAudience'] as const).filter((name) => !isSet(name))
    return needed.map((name) =>
      problem(name, `must be set with ${isSet('jwksUrl') ? url : file}, or any token would do`),
    )
  }
  const idle = (['jwtIssuer', 'jwtAudience', 'jwtAlgorithms', 'jwtTypes'] as const).filter(isSet)
  return idle.map((name) => problem(name, `means nothing without ${url} or ${file}`))
}
