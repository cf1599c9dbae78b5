import { type ErrorName, errorTable } from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import { describe, expect, test } from 'vitest'
import { page } from '../../src/http/docs/page.ts'
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
  const addresses = [...body.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, to = '']) => to)
  const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => `#${id}`)
  expect(new Set(ids).size).toBe(ids.length)
  for (const address of addresses) {
    if (address.startsWith('#')) expect(ids).toContain(address)
    else expect((await ask(server, get(`/${address}`))).status, address).toBe(200)
  }
  expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/)
})

describe('without its script the page holds', () => {
  const readText = async () => {
    const { body } = await ask(server, get('/docs'))
    const text = body.replace(/<[^>]*>/g, ' ').replaceAll('&quot;', '"')
    return text.replaceAll('&amp;', '&').replace(/\s+/g, ' ')
  }

  test.each(Object.entries(errorTable))('the error %s', async (name, { code, status }) => {
    const { meaning, mayBeStored } = errorTexts[name as ErrorName]
    const row = [code, name, status, meaning, mayBeStored ? 'perhaps' : 'no'].join(' ')
    expect(await readText()).toContain(row)
  })

  test('the rules of the values, and a command', async () => {
    const text = await readText()
    expect(text).toMatch(/id required The .* from -9223372036854775808 to 9223372036854775807/)
    expect(text).toMatch(/name required The name .* tag optional A tag /)
    expect(text).toContain("curl -i -X POST 'http://127.0.0.1:3000/plants' \\ -H")
    expect(text).not.toContain('{{')
  })
})

test.each([
  '/docs/',
  '/docs/index.html',
  '/docs/../docs',
  '/docs/page.js.br',
  '/docs/tsconfig.json',
])('%s is a path like any other, and needs a credential', async (path) => {
  expectReply(await ask(server, get(path)), { error: 'missing_credentials' })
  expectReply(await ask(server, request({ line: `GET ${path} HTTP/1.1` })), {
    error: 'not_found',
  })
})

describe('switched off', () => {
  const quiet = useWireServer({ docs: 'off' })

  test.each([...page.paths, '/openapi.json', '/openapi.yaml'])('%s is not there', async (path) => {
    expectReply(await ask(quiet, get(path)), { error: 'missing_credentials' })
    const known = request({ line: `GET ${path} HTTP/1.1` })
    expectReply(await ask(quiet, known), { error: 'not_found' })
  })
})
