import type { PlantStoreError, PlantStoreErrorCode, PlantStoreMeta } from '@plant-store/client'
import { headerNames, REPLAYED } from '@plant-store/contract'
import { type ExitCode, exitCodes } from './cli-error.ts'

const AGAIN = 'the same command again'
const OTHER_URL = 'another URL, without /plants at its end, if this one is of something else'

const codesBy: readonly (readonly [ExitCode, readonly PlantStoreErrorCode[]])[] = [
  [exitCodes.usage, ['invalid_base_url', 'invalid_option']],
  [exitCodes.rejected, ['invalid_plant', 'rejected', 'conflict', 'too_large']],
  [
    exitCodes.notAllowed,
    ['missing_token', 'invalid_token', 'token_provider_failed', 'unauthorized', 'forbidden'],
  ],
  [exitCodes.interrupted, ['aborted']],
]

const hintByCode: Partial<Readonly<Record<PlantStoreErrorCode, string>>> = {
  conflict: 'another id, since another plant has this one',
  connection_failed: `${AGAIN} once the server runs, if the URL is right`,
  rate_limited: `${AGAIN} later`,
  unexpected_response: OTHER_URL,
  not_found: OTHER_URL,
  unexpected_status: OTHER_URL,
}

/** By the reason that TLS fails for. */
const tlsHints: readonly (readonly [RegExp, string])[] = [
  [/ALTNAME|HOSTNAME/, 'a URL with the name that the certificate is for'],
  [/EXPIRED/, `${AGAIN} once the operator has renewed the certificate`],
  [/CERT|SELF_SIGNED|UNABLE_TO/, 'NODE_EXTRA_CA_CERTS=FILE, with the certificate of its authority'],
  [/./, 'http:// in place of https://, if the server has no TLS at this port'],
]

/** The exit code for what the client reports; another try may help where it is not one of these. */
export function exitCodeOf({ code }: PlantStoreError): ExitCode {
  return codesBy.find(([, codes]) => codes.includes(code))?.[0] ?? exitCodes.unreachable
}

/**
 * What to try after a failure of the client, as it follows `Try: `; undefined where nothing helps.
 * `tokenBy`: how another token is given, such as `plant-store login URL with`.
 */
export function hintOf(
  { code, applied, retryable, reason = '' }: PlantStoreError,
  tokenBy: string,
): string | undefined {
  if (code === 'unauthorized') return `${tokenBy} a token that is valid`
  if (code === 'forbidden') return `${tokenBy} a token that may create plants`
  if (code === 'tls_failed') return tlsHints.find(([pattern]) => pattern.test(reason))?.[1]
  const hint = hintByCode[code]
  if (hint !== undefined) return hint
  if (applied === 'maybe') return `${AGAIN}; a plant that is there is not stored twice`
  return retryable ? `${AGAIN} later` : undefined
}

/** Whether a plant that is stored was there before this call, as far as the response can say. */
export function wasThere({ attempts, headers }: PlantStoreMeta): boolean {
  // After a first attempt without a response it may be this call's own plant.
  return attempts === 1 && headers?.get(headerNames.idempotentReplayed) === REPLAYED
}
