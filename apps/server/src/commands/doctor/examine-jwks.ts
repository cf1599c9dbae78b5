import { parseKeySet } from '../../auth/key-set.ts'
import { type JwtConfig, keySourceOf } from '../../http/open-authenticate.ts'
import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

const about = healthChecksOf('jwks')

/** Checks whether the keys of JWTs can be read and used; no check where JWTs are not set up. */
export async function examineJwks(config: JwtConfig, stop: AbortSignal): Promise<HealthCheck[]> {
  const source = keySourceOf(config, stop)
  if (source === undefined) return []
  const where = source.description
  try {
    const { usable, ignored } = await parseKeySet(await source.read(), config.jwtAlgorithms)
    const found =
      usable.length === 0
        ? about.failure(
            `${where} has no key for ${config.jwtAlgorithms}`,
            'add the algorithm of the issuer to PLANT_STORE_JWT_ALGORITHMS',
          )
        : about.ok(`${where} has ${usable.join(', ')}`)
    if (ignored.length === 0) return [found]
    const detail = `${where} has keys that are not used: ${ignored.join(', ')}`
    const fix =
      'publish keys for PLANT_STORE_JWT_ALGORITHMS; RSA needs 2048 bits and an exponent of 65537 or more'
    return [found, about.warning(detail, fix)]
  } catch (error) {
    const detail = `cannot read the keys at ${where}: ${(error as Error).message}`
    return [about.failure(detail, 'read them from this machine with curl')]
  }
}
