import { describe, expect, test } from 'vitest'
import { needsChromium } from '../../../../packages/client/hostile/chromium.ts'
import { startServerProcess } from '../process/server-process.ts'
import { createFrom, openBrowser, servePage } from './page.ts'

/** Opens a page, and a server that lists these origins; `ORIGIN` is the page's own. */
async function openPage(origins: string) {
  const origin = await servePage()
  const server = await startServerProcess({
    environment: { PLANT_STORE_CORS_ORIGINS: origins.replace('ORIGIN', origin) },
  })
  const page = await (await openBrowser()).newPage()
  await page.goto(origin, { waitUntil: 'load' })
  const { token } = server
  const create = ({ id = '1', name = 'Fern', text = token } = {}) =>
    createFrom(page, server.url, text, id, name)
  return { server, token, create }
}

describe('a page', { ...needsChromium, timeout: 60_000 }, () => {
  test('of a listed origin creates a plant and reads what an error says', async () => {
    const { token, create } = await openPage('https://plants.example,ORIGIN')
    const id = '9007199254740993'
    expect(await create({ id })).toStrictEqual({ plant: { name: 'Fern', tag: 'indoor' } })
    // Stored under exactly this id: other content under it is refused, and the page can say why.
    const taken = await create({ id, name: 'Ivy' })
    expect(taken).toMatchObject({ status: 400, code: 'conflict' })
    expect(taken.message).toContain(id)
    const stranger = await create({ id: '2', text: `${token.slice(0, -1)}x` })
    expect(stranger).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(stranger.requestId).toMatch(/^[\w.-]+$/)
  })

  test('of another origin is kept from it by its browser, and nothing is stored', async () => {
    const { server, create } = await openPage('https://plants.example')
    const seen = await create()
    expect(seen).toMatchObject({ status: undefined, code: expect.any(String) })
    expect(seen).not.toHaveProperty('plant')
    // Another plant under the same id is new, so the page's never arrived.
    expect(await server.client.createPlant({ id: 1, name: 'Ivy' })).toStrictEqual({ name: 'Ivy' })
  })
})
