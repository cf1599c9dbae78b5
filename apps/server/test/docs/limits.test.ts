import { describe, expect, test } from 'vitest'
import { useWireServer } from '../wire/harness.ts'
import { ask, get } from './get.ts'

const ORIGIN = 'https://plants.example'

const PATHS = ['/openapi.json', '/docs']

describe('where tokens have a rate and an origin is listed, what anybody may read', () => {
  const server = useWireServer({ rateLimit: '1', corsOrigins: ORIGIN })

  test.each(PATHS)('is of no rate: %s', async (path) => {
    for (let count = 0; count < 5; count++) {
      const { status, headers } = await ask(server, get(path))
      expect(status).toBe(200)
      expect([headers.has('ratelimit'), headers.has('ratelimit-policy')]).toEqual([false, false])
    }
  })

  test.each(PATHS)('can be read by a page of that origin: %s', async (path) => {
    const { headers } = await ask(server, get(path, { more: [`Origin: ${ORIGIN}`] }))
    expect(headers.get('access-control-allow-origin')).toEqual([ORIGIN])
    expect(headers.get('vary')).toContain('Origin')
    expect((await ask(server, get(path))).headers.get('vary')).toContain('Origin')
  })

  test('is a line of the log at debug', async () => {
    await ask(server, get('/openapi.json'))
    const lines = (await server.readLog()).map((line) => JSON.parse(line))
    expect(lines.filter(({ path }) => path === '/openapi.json')).toMatchObject([
      { level: 'debug', status: 200, msg: 'answered' },
    ])
  })
})
