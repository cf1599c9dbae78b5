import { createHash, generateKeyPairSync, sign } from 'node:crypto'

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const long = length > 255 ? [0x82, length >> 8, length & 255] : [0x81, length]
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content])
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const bytes = (hex: string) => Buffer.from(hex, 'hex')
const object = (hex: string) => der(0x06, bytes(hex))
const time = (text: string) => der(0x18, Buffer.from(text))

const COMMON_NAME = '550403'
const SUBJECT_ALTERNATIVE_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'
const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const TAG_OF_IP_ADDRESS = 0x87

function extension(id: string, value: Uint8Array): Buffer {
  return sequence(object(id), der(0x04, value))
}

/** A self-signed certificate for 127.0.0.1 and no other name (RFC 5280 §4.1), and its key, as PEM. */
export function createCertificate() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = sequence(object(ECDSA_WITH_SHA256))
  const name = sequence(
    der(0x31, sequence(object(COMMON_NAME), der(0x0c, Buffer.from('plant store')))),
  )
  const publicDer = publicKey.export({ type: 'spki', format: 'der' })
  const serial = createHash('sha256').update(publicDer).digest().subarray(0, 8)
  const address = der(TAG_OF_IP_ADDRESS, Buffer.from([127, 0, 0, 1]))
  const extensions = sequence(
    extension(SUBJECT_ALTERNATIVE_NAME, sequence(address)),
    extension(BASIC_CONSTRAINTS, sequence(bytes('0101ff'))),
  )
  const body = sequence(
    der(0xa0, bytes('020102')),
    der(0x02, bytes('01'), serial),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicDer,
    der(0xa3, extensions),
  )
  const signature = der(0x03, bytes('00'), sign('sha256', body, privateKey))
  const base64 = sequence(body, algorithm, signature).toString('base64')
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
