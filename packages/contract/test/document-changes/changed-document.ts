import { compareDocuments } from '../../document-changes/compare-documents.ts'
import { readPublishedDocument } from '../../document-changes/report.ts'

/** A document as a test changes it. */
// biome-ignore lint/suspicious/noExplicitAny: the tests write what no type of a document allows
export type Json = any

export type Change = (document: Json) => void

/** The document of version 1.0.0, which stays as it is when the contract changes. */
export function readSample(): Json {
  return readPublishedDocument('1.0.0')
}

/**
 * What is found where that document is changed, as `weight change pointer`. `before` changes it
 * first, so that there is something to change.
 */
export function findingsOf(change: Change, before: Change = () => {}): string[] {
  const was: Json = readSample()
  before(was)
  const is = structuredClone(was)
  change(is)
  return compareDocuments(was, is).map(
    (finding) => `${finding.weight} ${finding.change} ${finding.pointer}`,
  )
}

export function rename(object: Json, from: string, to: string): void {
  object[to] = object[from]
  delete object[from]
}

/** Where things stand in it. */
export const POST = '#/paths/~1plants/post'
export const ID = '#/components/schemas/NewPlant/allOf/1/properties/id'
export const PLANT = '#/components/schemas/Plant'
export const ERROR = '#/components/schemas/Error'

export const operationOf = (document: Json) => document.paths['/plants'].post
export const plantOf = (document: Json) => document.components.schemas.Plant
export const idOf = (document: Json) => document.components.schemas.NewPlant.allOf[1].properties.id
export const errorOf = (document: Json) => document.components.schemas.Error
export const answerOf = (document: Json, status: number) => operationOf(document).responses[status]
