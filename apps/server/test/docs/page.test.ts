import { describe, expect, test } from 'vitest'
import { page } from '../../src/docs/page.ts'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import { request } from '../wire/request.ts'
import { ask, get } from './get.ts'

const server = useWireServer()

describe.each(page.paths)('%s', (path) => {
  test('is there without a credential, and may run nothing but what this server sends', async () => {
    const { status, headers } = await ask(server, get(path))
    expect(status).toBe(200)
    const policy = headers.get('content-security-policy')?.join() ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|http/)
    expect(headers.get('x-content-type-options')).toEqual(['nosniff'])
    expect(headers.get('referrer-policy')).toEqual(['no-referrer'])
  })

  test('is only read', async () => {
    const sent = get(path, { line: `POST ${path} HTTP/1.1` })
    expectReply(await ask(server, sent), {
      error: 'method_not_allowed',
      headers: { allow: 'GET, HEAD' },
    })
  })
})

test('the page names files of this server only, and holds no script and no style', async () => {
  const { headers, body } = await ask(server, get('/docs'))
  expect(headers.get('content-type')).toEqual(['text/html; charset=utf-8'])
  const addresses = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
  const names = [...page.paths, '/openapi.json', '/openapi.yaml']
  for (const address of addresses) expect(names).toContain(`/${address}`)
  expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/)
})

test.each(['/docs/', '/docs/index.html', '/docs/../docs', '/docs/NOTICE'])(
  '%s is a path like any other, and needs a credential',
  async (path) => {
    expectReply(await ask(server, get(path)), { error: 'missing_credentials' })
    expectReply(await ask(server, request({ line: `GET ${path} HTTP/1.1` })), {
      error: 'not_found',
    })
  },
)

describe('switched off', () => {
  const quiet = useWireServer({ docs: 'off' })

  test.each([...page.paths, '/openapi.json', '/openapi.yaml'])('%s is not there', async (path) => {
    expectReply(await ask(quiet, get(path)), { error: 'missing_credentials' })
    const known = request({ line: `GET ${path} HTTP/1.1` })
    expectReply(await ask(quiet, known), { error: 'not_found' })
  })
})
