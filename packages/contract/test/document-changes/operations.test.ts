import { describe, expect, test } from 'vitest'
import { compareDocuments } from '../../document-changes/compare-documents.ts'
import { formatFinding } from '../../document-changes/finding.ts'
import {
  type Change,
  findingsOf,
  type Json,
  operationOf,
  POST,
  plantOf,
  readSample,
  rename,
} from './changed-document.ts'

describe('two documents that are the same', () => {
  test('have no changes, in whatever order their members are', () => {
    expect(findingsOf(() => {})).toEqual([])
    const reorder = (document: Json) => {
      plantOf(document).properties = { tag: {}, ...plantOf(document).properties }
      document.paths['/plants'] = { post: { responses: {}, ...operationOf(document) } }
    }
    expect(findingsOf(reorder)).toEqual([])
  })
})

test('a finding in one line says its rule, its place, and what it was and is', () => {
  const is = readSample()
  is.components.schemas.NewPlant.allOf[1].properties.id.maximum = 9223372036854775806n
  expect(compareDocuments(readSample(), is).map(formatFinding)).toEqual([
    'request-maximum-narrowed at POST /plants #/components/schemas/NewPlant/allOf/1/properties/id/maximum (9223372036854775807 → 9223372036854775806)',
  ])
})

/** Adds a parameter to the operation, beside one that is there already. */
function addParameter(document: Json, parameter: Json): void {
  const { parameters = [] } = operationOf(document)
  operationOf(document).parameters = [...parameters, { in: 'header', schema: {}, ...parameter }]
}

describe('of the operation', () => {
  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'another path',
      (document) => rename(document.paths, '/plants', '/v2/plants'),
      [`breaking operation-removed ${POST}`, 'additive operation-added #/paths/~1v2~1plants/post'],
    ],
    [
      'another method',
      (document) => rename(document.paths['/plants'], 'post', 'put'),
      [`breaking operation-removed ${POST}`, 'additive operation-added #/paths/~1plants/put'],
    ],
    [
      'another operationId',
      (document) => Object.assign(operationOf(document), { operationId: 'addPlant' }),
      [`breaking operation-operationId-changed ${POST}/operationId`],
    ],
    [
      'the end of it announced',
      (document) => Object.assign(operationOf(document), { deprecated: true }),
      [`additive operation-deprecated-changed ${POST}/deprecated`],
    ],
    [
      'a member that no rule knows',
      (document) => Object.assign(operationOf(document), { callbacks: {} }),
      [`breaking operation-callbacks-changed ${POST}/callbacks`],
    ],
    [
      'other words',
      (document) => Object.assign(operationOf(document), { summary: 'a', description: 'b' }),
      [
        `editorial operation-summary-changed ${POST}/summary`,
        `editorial operation-description-changed ${POST}/description`,
      ],
    ],
    [
      'a body that may be left out',
      (document) => Object.assign(operationOf(document).requestBody, { required: false }),
      [`additive request-body-became-optional ${POST}/requestBody/required`],
    ],
    [
      'another media type of the body',
      (document) => rename(operationOf(document).requestBody.content, 'application/json', 'text/x'),
      [
        `breaking request-media-type-removed ${POST}/requestBody/content/application~1json`,
        `additive request-media-type-added ${POST}/requestBody/content/text~1x`,
      ],
    ],
    [
      'a parameter that may be left out',
      (document) => addParameter(document, { name: 'one' }),
      [`additive request-parameter-added ${POST}/parameters/0`],
    ],
    [
      'a parameter that must be there',
      (document) => addParameter(document, { name: 'one', required: true }),
      [`breaking request-parameter-required-added ${POST}/parameters/0`],
    ],
  ])('%s', (_claim, change, found) => {
    expect(findingsOf(change)).toEqual(found)
  })

  test('a body that must be there where it could be left out', () => {
    const found = findingsOf(
      (document) => Object.assign(operationOf(document).requestBody, { required: true }),
      (document) => Object.assign(operationOf(document).requestBody, { required: false }),
    )
    expect(found).toEqual([`breaking request-body-became-required ${POST}/requestBody/required`])
  })

  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'gone',
      (document) => operationOf(document).parameters.pop(),
      [`breaking request-parameter-removed ${POST}/parameters/0`],
    ],
    [
      'that must be there',
      (document) => Object.assign(operationOf(document).parameters[0], { required: true }),
      [`breaking request-parameter-became-required ${POST}/parameters/0/required`],
    ],
    [
      'in another place of the list',
      (document) => {
        addParameter(document, { name: 'other' })
        operationOf(document).parameters.reverse()
      },
      [`additive request-parameter-added ${POST}/parameters/0`],
    ],
  ])('a parameter %s', (_claim, change, found) => {
    expect(findingsOf(change, (document) => addParameter(document, { name: 'one' }))).toEqual(found)
  })
})

describe('of the document', () => {
  test.each<[claim: string, change: Change, found: string[]]>([
    [
      'no bearer',
      (document) => delete document.security,
      ['breaking document-security-changed #/security'],
    ],
    [
      'an operation without the bearer',
      (document) => Object.assign(operationOf(document), { security: [] }),
      [`breaking operation-security-changed ${POST}/security`],
    ],
    [
      'another scheme',
      (document) =>
        Object.assign(document.components.securitySchemes.bearerAuth, { scheme: 'basic' }),
      ['breaking security-scheme-scheme-changed #/components/securitySchemes/bearerAuth/scheme'],
    ],
    [
      'another name of a schema, for which made clients name a type',
      (document) => {
        rename(document.components.schemas, 'NewPlant', 'PlantToCreate')
        operationOf(document).requestBody.content['application/json'].schema.$ref =
          '#/components/schemas/PlantToCreate'
      },
      [
        'breaking schema-removed #/components/schemas/NewPlant',
        'additive schema-added #/components/schemas/PlantToCreate',
      ],
    ],
    [
      'another base address',
      (document) => Object.assign(document.servers[0], { url: '/v2' }),
      ['breaking document-servers-changed #/servers'],
    ],
    [
      'another title and licence',
      (document) => Object.assign(document.info, { title: 'Plants', license: { name: 'ISC' } }),
      [
        'editorial info-title-changed #/info/title',
        'editorial info-license-changed #/info/license',
      ],
    ],
    ['another version alone', (document) => Object.assign(document.info, { version: '2.0.0' }), []],
  ])('%s', (_claim, change, found) => {
    expect(findingsOf(change)).toEqual(found)
  })
})
