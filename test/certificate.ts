import { execFileSync, spawnSync } from 'node:child_process'
import { needs } from './needs.ts'

export const needsOpenssl = needs('openssl', spawnSync('openssl', ['version']).status === 0)

/** A self-signed certificate for 127.0.0.1 or another name, and for no other, and its key, as PEM. */
export function createCertificate(name = 'IP:127.0.0.1') {
  const kind = '-x509 -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const args = `req ${kind} -subj /CN=plants -addext subjectAltName=${name} -keyout - -out -`
  const pem = execFileSync('openssl', args.split(' '), { encoding: 'utf8', stdio: 'pipe' })
  const end = pem.indexOf('-----BEGIN CERTIFICATE')
  return { key: pem.slice(0, end), cert: pem.slice(end) }
}
