import type { JsonValue } from '../src/json.ts'
import type { Finding } from './finding.ts'
import { stepInto, wholeOf } from './part.ts'

/** What a version goes up by (semver.org), the smallest first. */
const steps = ['none', 'patch', 'minor', 'major'] as const

export type VersionStep = (typeof steps)[number]

/** `info.version` of an OpenAPI document. */
export function versionOf(document: JsonValue): string {
  return String(stepInto(stepInto(wholeOf(document), 'info'), 'version').value)
}

function numbersOf(version: string): [number, number, number] {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? []
  if (patch === undefined) throw new RangeError(`${version} is no version of three numbers`)
  return [Number(major), Number(minor), Number(patch)]
}

/**
 * The step from one version to a later one; `none` where it is the same.
 * @throws RangeError where the later one is smaller, or one of them is no version.
 */
export function stepBetween(was: string, is: string): VersionStep {
  const before = numbersOf(was)
  const after = numbersOf(is)
  const changed = before.findIndex((number, place) => number !== after[place])
  if (changed < 0) return 'none'
  if ((after[changed] ?? 0) < (before[changed] ?? 0)) throw new RangeError(`${is} is before ${was}`)
  return steps[3 - changed] ?? 'none'
}

/**
 * The smallest step that findings allow: major for a breaking one, minor for an additive one. Other
 * words alone need none, and may be a patch.
 */
export function stepNeededBy(findings: readonly Finding[]): VersionStep {
  if (findings.some(({ weight }) => weight === 'breaking')) return 'major'
  return findings.some(({ weight }) => weight === 'additive') ? 'minor' : 'none'
}

export function isEnough(taken: VersionStep, needed: VersionStep): boolean {
  return steps.indexOf(taken) >= steps.indexOf(needed)
}
