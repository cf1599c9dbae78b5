import { describe, expect, test } from 'vitest'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { needsProxies, PROXIES, startProxy } from './proxy-process.ts'
import { uploadOverHttp1, uploadOverHttp2 } from './uploads.ts'

const BYTES = 5 * 1024 * 1024
const TOO_LARGE = '413 {"error":41300,"message":"the body must not exceed 65536 bytes"}'
const INVALID_TOKEN = '401 {"error":40101,"message":"the token is not valid"}'

const WAYS = [
  ['HTTP/1.1', uploadOverHttp1],
  ['HTTP/2', uploadOverHttp2],
] as const

function start() {
  return startServerProcess({
    folder: temporaryFolder(),
    environment: { PLANT_STORE_FAILED_CREDENTIAL_LIMIT: 'off' },
  })
}

describe('a reply to a body of 5 MiB that is still being sent', needsProxies, () => {
  test.each(
    PROXIES.flatMap((proxy) => WAYS.map(([version, upload]) => ({ proxy, version, upload }))),
  )(
    'reaches 200 of 200 callers through $proxy over $version',
    { timeout: 120_000 },
    async ({ proxy: name, upload }) => {
      const server = await start()
      const { url } = await startProxy(name, [server.url], server.operationsUrl)
      const uploads = { url, bytes: BYTES, count: 100 }
      expect(await upload({ ...uploads, token: server.token })).toEqual({ [TOO_LARGE]: 100 })
      expect(await upload({ ...uploads, token: 'wrong' })).toEqual({ [INVALID_TOKEN]: 100 })
    },
  )

  test('reaches a caller that has no proxy, whether it asks first or not', async () => {
    const server = await start()
    const uploads = { url: server.url, token: 'wrong', bytes: BYTES, count: 100 }
    for (const expectation of ['Expect:', 'Expect: 100-continue']) {
      const tally = await uploadOverHttp1(uploads, expectation)
      expect(tally).toEqual({ [INVALID_TOKEN]: 100 })
    }
  })
})
