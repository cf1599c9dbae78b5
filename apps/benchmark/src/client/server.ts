import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '../peers/serve.ts'
import { REPLY } from './plants.ts'

// A program: a server that reads a request, does nothing, and replies that the plant is stored.

const headers = { 'content-type': 'application/json', 'content-length': REPLY.length }

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, headers).end(REPLY))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  serve({ port, close: async () => void server.close() })
})
