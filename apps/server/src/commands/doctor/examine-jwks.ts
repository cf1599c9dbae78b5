import { parseKeySet } from '../../auth/key-set.ts'
import { type JwtConfig, keySourceOf } from '../../service/open-authenticate.ts'
import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

const about = healthChecksOf('jwks')

/** Whether the keys of JWTs can be read now, and which of them can be used; none without JWTs. */
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
            'the algorithm of the issuer in PLANT_STORE_JWT_ALGORITHMS',
          )
        : about.ok(`${where} has ${usable.join(', ')}`)
    if (ignored.length === 0) return [found]
    const detail = `${where} has keys that are not used: ${ignored.join(', ')}`
    const fix =
      'public keys for PLANT_STORE_JWT_ALGORITHMS, of RSA with 2048 bits and the exponent 65537 or more'
    return [found, about.warning(detail, fix)]
  } catch (error) {
    const detail = `cannot read the keys at ${where}: ${(error as Error).message}`
    return [about.failure(detail, 'reading it from this machine with curl')]
  }
}
