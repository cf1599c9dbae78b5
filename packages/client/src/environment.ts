import { VERSION } from './version.ts'

/** The settings that the client takes from the environment where an option is not given. */
export type EnvironmentName = 'PLANT_STORE_BASE_URL' | 'PLANT_STORE_TOKEN'

interface Host {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly versions?: Readonly<Record<string, string | undefined>>
  }
}

/** The versions of the runtime and its parts, by name; none in browsers. */
export function runtimeVersions(): Readonly<Record<string, string | undefined>> {
  return (globalThis as Host).process?.versions ?? {}
}

/** A setting from the environment; undefined where it is not set or there is no environment. */
export function readEnvironment(name: EnvironmentName): string | undefined {
  try {
    return (globalThis as Host).process?.env?.[name]
  } catch {
    // Deno throws where the program may not read its environment: the same as not set.
    return undefined
  }
}

/**
 * The User-Agent (RFC 9110 §10.1.5), such as `plant-store-client/1.0.0 node/24 garden`;
 * undefined in browsers, which send their own.
 */
export function describeUserAgent(appName: string | undefined): string | undefined {
  const versions = runtimeVersions()
  const runtime = ['bun', 'deno', 'node'].find((name) => versions[name] !== undefined)
  if (runtime === undefined) return undefined
  const [major] = (versions[runtime] ?? '').split('.')
  return [`plant-store-client/${VERSION}`, `${runtime}/${major}`, appName]
    .filter((part) => part !== undefined)
    .join(' ')
}
