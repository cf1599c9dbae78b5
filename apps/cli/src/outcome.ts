import type { PlantStoreError, PlantStoreErrorCode, PlantStoreMeta } from '@plant-store/client'
import { headerNames, REPLAYED } from '@plant-store/contract'
import { type ExitCode, exitCodes } from './cli-error.ts'

const AGAIN = 'the same command again'
const OTHER_URL = 'another URL, since this one may not be that of a plant store'

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
  unauthorized: 'plant-store login URL, with a token that is valid',
  forbidden: 'plant-store login URL, with a token that may create plants',
  connection_failed: `${AGAIN} later, if the URL is right`,
  tls_failed:
    'NODE_EXTRA_CA_CERTS=FILE, with the certificate of the authority that the server’s is from',
  rate_limited: `${AGAIN} later`,
  unexpected_response: OTHER_URL,
  not_found: OTHER_URL,
  unexpected_status: OTHER_URL,
}

/** The exit code for what the client reports; another try may help where it is not one of these. */
export function exitCodeOf({ code }: PlantStoreError): ExitCode {
  return codesBy.find(([, codes]) => codes.includes(code))?.[0] ?? exitCodes.unreachable
}

/** What to try after a failure of the client, as it follows `Try: `; undefined where nothing helps. */
export function hintOf({ code, applied, retryable }: PlantStoreError): string | undefined {
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
