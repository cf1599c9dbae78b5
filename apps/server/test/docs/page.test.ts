import { type ErrorName, errorTable } from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { describe, expect, test } from 'vitest'
import { page } from '../../src/http/docs.ts'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import { request } from '../wire/request.ts'
import { ask, get } from './get.ts'

const server = useWireServer()
const quiet = useWireServer({ docs: 'off' })

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
    const sent = get(path, { line: `POST ${path} HTTP/1.1` })
    const allow = { allow: 'GET, HEAD' }
    expectReply(await ask(server, sent), { error: 'method_not_allowed', headers: allow })
  })
})

test('the page has at most 30 KB, and names files of this server only', async () => {
  const files = await Promise.all(page.paths.map((path) => ask(server, get(path))))
  expect(files.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(30_000)
  const { body } = await ask(server, get('/docs'))
  const addresses = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, to = '']) => to)
  for (const address of addresses) {
    // Relative ones, which hold under the prefix of a proxy too.
    if (address.startsWith('#')) expect(body).toContain(` id="${address.slice(1)}"`)
    else expect((await ask(server, get(`/${address}`))).status, address).toBe(200)
  }
  expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|\{\{/)
})

test('without its script the page holds the errors, the rules and a command', async () => {
  const { body } = await ask(server, get('/docs'))
  const plain = body
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  const text = plain.replace(/\s+/g, ' ')
  for (const [name, { code, status }] of Object.entries(errorTable)) {
    const { meaning, mayBeStored } = errorTexts[name as ErrorName]
    expect(text).toContain([code, name, status, meaning, mayBeStored ? 'perhaps' : 'no'].join(' '))
  }
  expect(text).toMatch(/id required The .* from -9223372036854775808 to 9223372036854775807/)
  expect(text).toMatch(/name required The name .* tag optional A tag /)
  expect(text).toContain("curl -i 'http://127.0.0.1:3000/plants' \\ -H")
})

test.each([...page.paths, '/openapi.json', '/openapi-3.0.json'])(
  'switched off %s is not there',
  async (path) => {
    expectReply(await ask(quiet, get(path)), { error: 'missing_credentials' })
    const known = request({ line: `GET ${path} HTTP/1.1` })
    expectReply(await ask(quiet, known), { error: 'not_found' })
  },
)

test.each(['/docs/', '/docs/index.html', '/docs/../docs'])(
  '%s is a path like any other, and needs a credential',
  async (path) => {
    expectReply(await ask(server, get(path)), { error: 'missing_credentials' })
    const known = request({ line: `GET ${path} HTTP/1.1` })
    expectReply(await ask(server, known), { error: 'not_found' })
  },
)
