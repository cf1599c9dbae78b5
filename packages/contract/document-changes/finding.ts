/**
 * What a change asks of those who call the service: to change with it, nothing, or to read again.
 */
export type Weight = 'breaking' | 'additive' | 'editorial'

/** One difference between two OpenAPI documents, and what it weighs. */
export interface Finding {
  readonly weight: Weight
  /** The rule that it falls under, such as `request-property-became-required`. */
  readonly change: string
  /** The operation that it concerns, such as `POST /plants`; or `the document`. */
  readonly subject: string
  /** Where it stands, in the newer document if it is still there, as a JSON pointer (RFC 6901 §6). */
  readonly pointer: string
  /** What it was and what it is, where that is short. */
  readonly detail?: string
}

/** A finding in one line: `request-property-became-required at POST /plants #/components/…/tag`. */
export function formatFinding({ change, subject, pointer, detail }: Finding): string {
  const place = `${change} at ${subject} ${pointer}`
  return detail === undefined ? place : `${place} (${detail})`
}
