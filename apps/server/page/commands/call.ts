import {
  AUTHORIZATION_SCHEME,
  contract,
  encodeJson,
  headerNames,
  type JsonWritable,
  type NewPlant,
} from '@plant-store/contract'

/** What a program is to send. */
export interface Call {
  /** The base address of the service, without a slash at its end. */
  readonly baseUrl: string
  /** The body, as text. */
  readonly body: string
  /** The plant that the body holds; none where the server would refuse it. */
  readonly plant?: NewPlant | undefined
  /** A token to stand in the program; without it the program reads PLANT_STORE_TOKEN. */
  readonly token?: string | undefined
}

/** How one language makes a call. */
export interface Language {
  readonly name: string
  /** The file that the program belongs into; none for a command. */
  readonly file?: string
  /** How it is run, in a shell; none for a command, which is pasted. */
  readonly run?: string
  /** What it needs, in a few words. */
  readonly needs: string
  /** The whole program. */
  write(call: Call): string
}

/** What every call has, by the contract. */
export const { method, contentType } = contract.createPlant
export const { authorization, contentType: contentTypeHeader } = headerNames

/** What stands before the token in its header. */
export const SCHEME = `${AUTHORIZATION_SCHEME} `

export function urlOf({ baseUrl }: Call): string {
  return baseUrl + contract.createPlant.path
}

/** A literal as JSON, JavaScript, Python and Go read it; of a bigint only the digits. */
export const quote: (value: JsonWritable) => string = encodeJson
