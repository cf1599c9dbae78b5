import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Worker as WorkerThread } from 'node:worker_threads'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium, needsChromium } from '../runtimes/chromium.ts'
import { type RealServer, startKillableServer, startRealServer } from '../runtimes/real-server.ts'
import { createProject, type Project, pack, pathOf } from './packages.ts'

let project: Project

beforeAll(() => {
  project = createProject((folder) => [pack(pathOf('..'), folder)])
})

afterAll(() => project[Symbol.dispose]())

describe('a page and a Web Worker in it', () => {
  let browser: Browser
  let pages: Server
  let pageUrl: string
  let server: RealServer

  /** What a browser gets of a program that has installed the client. */
  async function bundle(contents: string): Promise<string> {
    const stdin = { contents, resolveDir: project.folder }
    const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm' })
    return outputFiles[0]?.text ?? ''
  }

  beforeAll(async () => {
    const store = `
      import { createPlantStoreClient } from '@plant-store/client'
      globalThis.store = (options, plant) => createPlantStoreClient(options).tryCreatePlant(plant)
        .then(({ plant, error }) => plant?.name ?? [error.code, error.applied].join())
      globalThis.storeInWorker = (...given) => new Promise((resolve) => {
        const worker = new Worker('/store.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.postMessage(given)
      })
      if (!('document' in globalThis)) {
        globalThis.onmessage = async ({ data }) => postMessage(await store(...data))
      }`
    const script = await bundle(store)
    pages = createServer(({ url }, response) => {
      const isScript = url === '/store.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : '<script type="module" src="/store.js"></script>')
    }).listen(0, '127.0.0.1')
    await once(pages, 'listening')
    pageUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
    server = await startKillableServer({ 'cors-origins': pageUrl })
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    pages.closeAllConnections()
    pages.close()
    await server.endAndRead()
  })

  type Store = (options: object, plant: object) => Promise<string>

  /** What one of the functions of the page comes to. */
  function evaluate(page: Page, name: string, options: object, plant: object): Promise<string> {
    return page.evaluate(
      ([called, ...given]) => (globalThis as unknown as Record<string, Store>)[called]?.(...given),
      [name, options, plant] as const,
    ) as Promise<string>
  }

  test('store plants where the server allows their origin', needsChromium, async () => {
    const page = await browser.newPage()
    await page.goto(pageUrl, { waitUntil: 'load' })
    const options = { baseUrl: server.url, token: server.token }
    expect(await evaluate(page, 'store', options, { id: 1, name: 'Fern' })).toBe('Fern')
    expect(await evaluate(page, 'storeInWorker', options, { id: 2, name: 'Moss' })).toBe('Moss')
    expect(Array.from(server.readNames())).toEqual([
      [1n, 'Fern'],
      [2n, 'Moss'],
    ])
  })

  test('learn only of a lost connection where it does not', needsChromium, async () => {
    const page = await browser.newPage()
    await page.goto(pageUrl.replace('127.0.0.1', 'localhost'), { waitUntil: 'load' })
    const options = { baseUrl: server.url, token: server.token, maxRetries: 0 }
    const failure = await evaluate(page, 'store', options, { id: 3, name: 'Ivy' })
    expect(failure).toBe('connection_lost,maybe')
    expect(server.readNames().has(3n)).toBe(false)
  })
})

test('a worker thread stores plants', async () => {
  const server = await startRealServer()
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { createPlantStoreClient } = require('@plant-store/client')
    createPlantStoreClient(workerData).createPlant({ id: 1, name: 'Fern' })
      .then((plant) => parentPort.postMessage(plant))`
  const path = createRequire(`${project.folder}/`).resolve('@plant-store/client')
  const worker = new WorkerThread(code.replace('@plant-store/client', path), {
    eval: true,
    workerData: { baseUrl: server.url, token: server.token },
  })
  const [message, exit] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  expect([message, exit]).toEqual([[{ name: 'Fern' }], [0]])
  expect(await server.endAndRead()).toEqual(new Map([[1n, 'Fern']]))
})
