import { readFileSync } from 'node:fs'
import { decodeJson, type JsonValue } from '../src/json.ts'
import { createOpenApiDocument, formatOpenApiJson } from '../src/openapi.ts'
import { compareDocuments } from './compare-documents.ts'
import { type Finding, formatFinding } from './finding.ts'
import { isEnough, stepBetween, stepNeededBy, type VersionStep, versionOf } from './version-step.ts'

/** What callers of the last release were told. */
export function readPublishedDocument(): JsonValue {
  return decodeJson(readFileSync(new URL('../published/openapi.json', import.meta.url)))
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

export function reportChanges(published: JsonValue, current: JsonValue): Report {
  const findings = compareDocuments(published, current)
  const [was, is] = [versionOf(published), versionOf(current)]
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
