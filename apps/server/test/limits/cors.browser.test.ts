import { expect, test } from 'vitest'
import { needsChromium } from '../../../../packages/client/hostile/chromium.ts'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createFrom, openBrowser, servePage } from './page.ts'

test('a page of a listed origin creates a plant and reads what an error says', {
  ...needsChromium,
  timeout: 60_000,
}, async () => {
  const origin = await servePage()
  const server = await startServerProcess({
    folder: temporaryFolder(),
    environment: { PLANT_STORE_CORS_ORIGINS: `https://plants.example,${origin}` },
  })
  const page = await (await openBrowser()).newPage()
  await page.goto(origin, { waitUntil: 'load' })
  const id = '9007199254740993'
  const created = await createFrom(page, server.url, server.token, id)
  expect(created).toStrictEqual({ plant: { name: 'Fern', tag: 'indoor' } })
  // Stored under this very id: other content under it is refused, and the page can say why.
  const taken = await createFrom(page, server.url, server.token, id, 'Ivy')
  expect(taken).toMatchObject({ status: 400, code: 'conflict' })
  expect(taken.message).toContain(id)
  const stranger = await createFrom(page, server.url, `${server.token.slice(0, -1)}x`, '2')
  expect(stranger).toMatchObject({ status: 401, code: 'unauthorized' })
  expect(stranger.requestId).toMatch(/^[\w.-]+$/)
})

test('a page of another origin is kept from it by its browser, and nothing is stored', {
  ...needsChromium,
  timeout: 60_000,
}, async () => {
  const origin = await servePage()
  const server = await startServerProcess({
    folder: temporaryFolder(),
    environment: { PLANT_STORE_CORS_ORIGINS: 'https://plants.example' },
  })
  const page = await (await openBrowser()).newPage()
  await page.goto(origin, { waitUntil: 'load' })
  const seen = await createFrom(page, server.url, server.token, '1')
  expect(seen).toMatchObject({ status: undefined, code: expect.any(String) })
  expect(seen).not.toHaveProperty('plant')
  // Another plant under the same id is new, so the page's never came.
  expect(await server.client.createPlant({ id: 1, name: 'Ivy' })).toStrictEqual({ name: 'Ivy' })
})
