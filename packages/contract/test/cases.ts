import invalid from '../cases/invalid.json' with { type: 'json' }
import valid from '../cases/valid.json' with { type: 'json' }

/** A body that is a NewPlant, and the plant that it means; `plant.id` in decimal digits. */
export interface ValidCase {
  readonly name: string
  readonly body: string
  readonly plant: { readonly id: string; readonly name: string; readonly tag?: string }
}

/** A body as text, or in base64 where it is not UTF-8. */
export type InvalidBody = { readonly body: string } | { readonly bodyBase64: string }

/** A body that is refused; `message` is what the Error says, word for word. */
export type InvalidCase = { readonly name: string } & InvalidBody &
  (
    | { readonly error: 'malformed_json' }
    | { readonly error: 'invalid_plant'; readonly message: string }
  )

export const validCases = valid as readonly ValidCase[]
export const invalidCases = invalid as readonly InvalidCase[]

/** The bytes that travel. */
export function bytesOf(body: InvalidBody): Uint8Array {
  return 'body' in body
    ? new TextEncoder().encode(body.body)
    : Buffer.from(body.bodyBase64, 'base64')
}
