import { environmentNameOf, type SettingName } from './settings.ts'

/**
 * A problem for each set of settings that are right by themselves and wrong together.
 * `isSet` tells whether a setting has another value than its default.
 */
export function describeContradictions(isSet: (name: SettingName) => boolean): string[] {
  const problem = (name: SettingName, text: string) => `${environmentNameOf(name)}: ${text}`
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
  const idle = (['jwtIssuer', 'jwtAudience', 'jwtAlgorithms'] as const).filter(isSet)
  return idle.map((name) => problem(name, `means nothing without ${url} or ${file}`))
}
