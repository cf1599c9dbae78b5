import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from './serve.ts'

const plants = new Map<number, { name: string; tag?: string }>()

function createPlant(text: string): string | undefined {
  const { id, name, tag } = JSON.parse(text)
  if (typeof id !== 'number' || typeof name !== 'string') return undefined
  if (tag !== undefined && typeof tag !== 'string') return undefined
  const plant = { name, tag }
  plants.set(id, plant)
  return JSON.stringify(plant)
}

function answer(response: ServerResponse, text: string): void {
  const body = createPlant(text)
  if (body === undefined) {
    response.writeHead(400).end()
    return
  }
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

function handle(request: IncomingMessage, response: ServerResponse): void {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => answer(response, text))
}

const server = createServer(handle)
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  serve({ port, close: async () => void server.close() })
})
