import { describe, expect, test } from 'vitest'
import {
  answerOf,
  type Change,
  findingsOf,
  type Json,
  operationOf,
  POST,
  rename,
} from './changed-document.ts'

const JSON_TYPE = 'application/json'
const RESPONSES = `${POST}/responses`
const EXAMPLES = `${RESPONSES}/400/content/application~1json/examples`

function examplesOf(document: Json, status: number): Json {
  return answerOf(document, status).content[JSON_TYPE].examples
}

describe('of the responses', () => {
  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'a status less, and its errors with it',
      (document) => delete operationOf(document).responses[408],
      [
        `breaking response-removed ${RESPONSES}/408`,
        `breaking error-removed ${RESPONSES}/408/content/application~1json/examples/request_timeout/value/error`,
      ],
    ],
    [
      'one more way to fail',
      (document) => {
        operationOf(document).responses[409] = { description: 'a' }
      },
      [`additive response-added ${RESPONSES}/409`],
    ],
    [
      'one more way to succeed',
      (document) => {
        operationOf(document).responses[202] = { description: 'a' }
      },
      [`breaking response-added ${RESPONSES}/202`],
    ],
    [
      'another status of success',
      (document) => rename(operationOf(document).responses, '200', '201'),
      [`breaking response-removed ${RESPONSES}/200`, `breaking response-added ${RESPONSES}/201`],
    ],
    [
      'another media type',
      (document) => rename(answerOf(document, 200).content, JSON_TYPE, 'text/x'),
      [
        `breaking response-media-type-removed ${RESPONSES}/200/content/application~1json`,
        `breaking response-media-type-added ${RESPONSES}/200/content/text~1x`,
      ],
    ],
    [
      'a header less',
      (document) => delete answerOf(document, 503).headers['Retry-After'],
      ['breaking response-header-removed #/components/headers/Retry-After'],
    ],
    [
      'one more header',
      (document) => {
        answerOf(document, 200).headers.etag = { schema: { type: 'string' } }
      },
      [`additive response-header-added ${RESPONSES}/200/headers/etag`],
    ],
    [
      'a header that may be missing',
      (document) => Object.assign(document.components.headers.Allow, { required: false }),
      ['breaking response-header-became-optional #/components/headers/Allow/required'],
    ],
    [
      'a header that is always there',
      (document) => Object.assign(document.components.headers.Accept, { required: true }),
      ['additive response-header-became-required #/components/headers/Accept/required'],
    ],
    [
      'a header with other values',
      (document) => {
        document.components.headers['Retry-After'].schema = { type: 'string' }
      },
      [
        'breaking response-header-type-changed #/components/headers/Retry-After/schema/type',
        'breaking response-header-format-changed #/components/headers/Retry-After/schema/format',
        'breaking response-header-minimum-widened #/components/headers/Retry-After/schema/minimum',
        'breaking response-header-maximum-widened #/components/headers/Retry-After/schema/maximum',
      ],
    ],
  ])('%s', (_claim, change, found) => {
    expect(findingsOf(change)).toEqual(found)
  })
})

describe('of the errors', () => {
  const editorial = [`editorial response-examples-changed ${EXAMPLES}`]

  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'another number',
      (document) => {
        examplesOf(document, 400).id_taken.value.error = 40009
      },
      [`breaking error-renumbered ${EXAMPLES}/id_taken/value/error`, ...editorial],
    ],
    [
      'one less',
      (document) => delete examplesOf(document, 400).id_taken,
      [`breaking error-removed ${EXAMPLES}/id_taken/value/error`, ...editorial],
    ],
    [
      'one more',
      (document) => {
        examplesOf(document, 400).too_old = { value: { error: 40004, message: 'a' } }
      },
      [`additive error-added ${EXAMPLES}/too_old/value/error`, ...editorial],
    ],
    [
      'another name',
      (document) => rename(examplesOf(document, 400), 'id_taken', 'id_in_use'),
      [
        `breaking error-removed ${EXAMPLES}/id_taken/value/error`,
        `additive error-added ${EXAMPLES}/id_in_use/value/error`,
        ...editorial,
      ],
    ],
    [
      'other words',
      (document) => {
        examplesOf(document, 400).id_taken.value.message = 'a'
      },
      editorial,
    ],
  ])('%s', (_claim, change, found) => {
    expect(findingsOf(change)).toEqual(found)
  })

  test('another status', () => {
    const found = findingsOf((document) => {
      examplesOf(document, 413).id_taken = examplesOf(document, 400).id_taken
      delete examplesOf(document, 400).id_taken
    })
    const there = `${RESPONSES}/413/content/application~1json/examples/id_taken/value/error`
    expect(found).toContain(`breaking error-moved ${there}`)
  })
})
