import { maskDatabaseUrl } from '../engines/engines.ts'
import { type Flags, findSetting } from './config.ts'
import { type Environment, environmentNameOf, SECRETS, settingNames } from './settings.ts'

/** The value of a setting, for people. */
export interface DescribedSetting {
  readonly environmentName: string
  /** Without passwords. */
  readonly text: string
  /** The flag, the environment variable, or `default`. */
  readonly source: string
}

/**
 * Every setting with its source. The values are not checked: loadConfig does that.
 * @throws Error as findSetting does.
 */
export function describeSettings(flags: Flags, environment?: Environment): DescribedSetting[] {
  return settingNames.map((name) => {
    const { text, source } = findSetting(name, flags, environment)
    const environmentName = environmentNameOf(name)
    return { environmentName, text: SECRETS.has(name) ? maskDatabaseUrl(text) : text, source }
  })
}
