import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RealServer, startRealServer } from '../../../packages/client/runtimes/real-server.ts'
import { type Row, rows, unknownRows } from './requests.ts'
import { document, needsTools, type RunningTool, startTool } from './tools.ts'

/** What Prism finds wrong, from a header of its reply. */
interface Violation {
  readonly location: readonly string[]
  readonly severity: string
  readonly message: string
}

interface Proxied {
  readonly status: number
  readonly body: unknown
  readonly ofRequest: readonly Violation[]
  readonly ofResponse: readonly Violation[]
}

function startProxy(upstream: string): Promise<RunningTool> {
  return startTool('prism', ['proxy', document, upstream, '--port', '0'], /listening on (\S+)/)
}

async function send(proxyUrl: string, token: string, row: Row): Promise<Proxied> {
  const { method = 'POST', path = '/plants', contentType = 'application/json' } = row
  const { authorization = `Bearer ${token}`, body = '' } = row
  const response = await fetch(`${proxyUrl}${path}`, {
    method,
    headers: { 'content-type': contentType, ...(authorization !== null && { authorization }) },
    body,
  })
  const violations: Violation[] = JSON.parse(response.headers.get('sl-violations') ?? '[]')
  return {
    status: response.status,
    body: await response.json(),
    ofRequest: violations.filter(({ location }) => location[0] === 'request'),
    ofResponse: violations.filter(({ location }) => location[0] !== 'request'),
  }
}

describe('Prism between a caller and the real server', needsTools, () => {
  let server: RealServer
  let proxy: RunningTool
  beforeAll(async () => {
    server = await startRealServer()
    proxy = await startProxy(server.url)
  })
  afterAll(async () => {
    await proxy?.stop()
    await server?.endAndRead()
  })

  const through = (row: Row) => send(proxy.found[1] ?? '', server.token, row)

  test.each(rows)(
    'holds the answer to $claim against the document, and the request',
    async (row) => {
      const { status, ofRequest, ofResponse } = await through(row)
      expect({ status, ofResponse }).toEqual({ status: row.status, ofResponse: [] })
      expect(ofRequest.length > 0, JSON.stringify(ofRequest)).toBe(row.isForbidden)
    },
  )

  test.each(unknownRows)('knows no operation for $claim', async (row) => {
    const { status, body, ofRequest } = await through(row)
    expect(status).toBe(row.status)
    expect(body).toEqual({ error: expect.any(Number), message: expect.any(String) })
    expect(ofRequest).toMatchObject([{ message: 'Selected route not found' }])
  })
})

test('Prism finds an answer that the document does not allow', needsTools, async () => {
  const wrong = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"title":"Fern"}')
  })
  await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void wrong.close())
  const proxy = await startProxy(`http://127.0.0.1:${(wrong.address() as AddressInfo).port}`)
  onTestFinished(() => proxy.stop())
  const row = { claim: '', status: 200, isForbidden: false, body: '{"id":1,"name":"Fern"}' }
  const { ofResponse } = await send(proxy.found[1] ?? '', 'token', row)
  expect(JSON.stringify(ofResponse)).toContain("must have required property 'name'")
})
