import { expect, test } from 'vitest'
import { type Decoded, decodeResponse } from '../src/plant-codec.ts'

const sent = { id: 7n, name: 'Fern', tag: 'shade' }
const issue = (message: string, ...path: string[]) => ({ path, message })

test.each<[number, string, Decoded]>([
  [200, '{"name":"Fern","tag":"shade"}', { plant: { name: 'Fern', tag: 'shade' } }],
  [
    200,
    '{"name":"Moss","tag":"shade"}',
    { isJson: true, issues: [issue('is not what was sent', 'name')] },
  ],
  [200, '{"tag":"shade"}', { isJson: true, issues: [issue('is required', 'name')] }],
  [200, '{', { isJson: false, issues: [issue('the body is not valid JSON')] }],
  [
    200,
    '{"id":7,"name":"Fern","tag":"shade"}',
    {
      isJson: true,
      issues: [issue('is in no reply of the plant store: this is an echo of the request', 'id')],
    },
  ],
  [400, '{"error":40003,"message":"m"}', { errorBody: { error: 40003, message: 'm' } }],
  [400, '{"error":40003}', { isJson: true, issues: [issue('must be a string', 'message')] }],
])('%i with %s', (status, body, expected) => {
  expect(decodeResponse(status, new TextEncoder().encode(body), sent)).toEqual(expected)
})
