import { createServer } from 'node:http'
import { serve } from './serve.ts'

// Node.js by itself: reads a plant, looks at its fields, keeps nothing.

function answer(text: string): string | undefined {
  const { id, name, tag } = JSON.parse(text)
  if (typeof id !== 'number' || typeof name !== 'string') return undefined
  if (tag !== undefined && typeof tag !== 'string') return undefined
  return JSON.stringify({ name, tag })
}

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => {
    const body = answer(text)
    if (body === undefined) return response.writeHead(400).end()
    const length = Buffer.byteLength(body)
    const headers = { 'content-type': 'application/json', 'content-length': length }
    return response.writeHead(200, headers).end(body)
  })
})
serve(server)
