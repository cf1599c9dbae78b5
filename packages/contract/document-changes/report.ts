import { readdirSync, readFileSync } from 'node:fs'
import { decodeJson, type JsonValue } from '../src/json.ts'
import { createOpenApiDocument, formatOpenApiJson } from '../src/openapi.ts'
import { compareDocuments } from './compare-documents.ts'
import { type Finding, formatFinding } from './finding.ts'
import { isEnough, stepBetween, stepNeededBy, type VersionStep, versionOf } from './version-step.ts'

const published = new URL('../published/', import.meta.url)

/** The versions that were released, the oldest first. */
export function listPublishedVersions(): string[] {
  return readdirSync(published).toSorted((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  )
}

/** What callers of a release were told, by default of the last one. */
export function readPublishedDocument(version = listPublishedVersions().at(-1)): JsonValue {
  return decodeJson(readFileSync(new URL(`${version}/openapi.json`, published)))
}

/** What the contract says now. */
export function makeCurrentDocument(): JsonValue {
  return decodeJson(new TextEncoder().encode(formatOpenApiJson(createOpenApiDocument())))
}

/** The changes since a document was published, held against the step of its version. */
export interface Report {
  readonly findings: readonly Finding[]
  readonly was: string
  readonly is: string
  readonly needed: VersionStep
  /** Whether the version says as much as the findings need. */
  readonly isTold: boolean
}

export function reportChanges(earlier: JsonValue, current: JsonValue): Report {
  const findings = compareDocuments(earlier, current)
  const [was, is] = [versionOf(earlier), versionOf(current)]
  const needed = stepNeededBy(findings)
  return { findings, was, is, needed, isTold: isEnough(stepBetween(was, is), needed) }
}

/** The report as lines of text. */
export function formatReport({ findings, was, is, needed, isTold }: Report): string {
  const lines = findings.map((finding) => `${finding.weight}: ${formatFinding(finding)}`)
  const versions = was === is ? `info.version is ${is}` : `info.version is ${is}, was ${was}`
  const count = findings.length === 1 ? '1 change' : `${findings.length} changes`
  const step = isTold ? versions : `${versions}: this needs a ${needed} version`
  return [...lines, `${count} since the published document; ${step}`, ''].join('\n')
}
