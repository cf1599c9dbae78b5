import { describe, expect, test } from 'vitest'
import { useWireServer } from '../wire/harness.ts'
import { get } from './get.ts'

const ORIGIN = 'https://plants.example'

const PATHS = ['/openapi.json', '/openapi.yaml', '/docs', '/docs/page.js']

describe('where tokens have a rate and an origin is listed, what anybody may read', () => {
  const server = useWireServer({ rateLimit: '1', rateWindowSeconds: '1', corsOrigins: ORIGIN })

  async function ask(path: string, more: readonly string[] = []) {
    const caller = await server.open()
    caller.send(get(path, { more }))
    return caller.readReply()
  }

  test.each(PATHS)('is of no rate: %s', async (path) => {
    for (let count = 0; count < 5; count++) {
      const { status, headers } = await ask(path)
      expect(status).toBe(200)
      expect([headers.has('ratelimit'), headers.has('ratelimit-policy')]).toEqual([false, false])
    }
  })

  test.each(PATHS)('can be read by a page of that origin: %s', async (path) => {
    const { headers } = await ask(path, [`Origin: ${ORIGIN}`])
    expect(headers.get('access-control-allow-origin')).toEqual([ORIGIN])
    expect(headers.get('vary')).toEqual(['Origin'])
    expect((await ask(path)).headers.get('vary')).toEqual(['Origin'])
  })

  test('is a line of the log at debug', async () => {
    await ask('/openapi.json')
    const lines = (await server.readLog()).map((line) => JSON.parse(line))
    expect(lines.filter(({ path }) => path === '/openapi.json')).toMatchObject([
      { level: 'debug', status: 200, msg: 'answered' },
    ])
  })
})
