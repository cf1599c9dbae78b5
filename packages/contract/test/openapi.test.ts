import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { contract, encodeJson, errorTable, INT64_MAX, INT64_MIN, Plant } from '../src/index.ts'
import { createOpenApiDocument, formatOpenApiJson } from '../src/openapi.ts'

const committed = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
const rootPackage = new URL('../../../package.json', import.meta.url)
const document = JSON.parse(committed)
const operation = document.paths['/plants'].post
const { schemas } = document.components

describe('the committed document', () => {
  test('is the one that the contract makes', () => {
    expect(
      committed === formatOpenApiJson(createOpenApiDocument()),
      'openapi.json is stale. Renew it from the root of the repository:\n' +
        '  npx -y pnpm@12.16.0 server openapi > packages/contract/openapi.json',
    ).toBe(true)
  })

  test('is what the specification names', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: {
        title: 'OpenAPI Plant Store',
        version: '1.0.0',
        contact: { url: JSON.parse(readFileSync(rootPackage, 'utf8')).repository },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      security: [{ bearerAuth: [] }],
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    })
    expect(Object.keys(document.paths)).toEqual(['/plants'])
    expect(operation).toMatchObject({ operationId: 'createPlant', requestBody: { required: true } })
    expect(operation).not.toHaveProperty('security')
  })

  test('has the bodies of the specification, by reference', () => {
    const json = 'application/json'
    expect(operation.requestBody.content[json].schema.$ref).toBe('#/components/schemas/NewPlant')
    for (const status of [...Object.keys(contract.createPlant.responses), 'default']) {
      const name = status === '200' ? 'Plant' : 'Error'
      const { schema } = operation.responses[status].content[json]
      expect(schema.$ref).toBe(`#/components/schemas/${name}`)
    }
  })

  test('says a NewPlant as all of a Plant and an id', () => {
    const [plant, added] = schemas.NewPlant.allOf
    expect(plant).toEqual({ $ref: '#/components/schemas/Plant' })
    expect(added).toMatchObject({ required: ['id'], properties: { id: { type: 'integer' } } })
    expect(schemas.NewPlant).toMatchObject({ type: 'object', properties: {} })
    expect(schemas.Plant.required).toEqual(['name'])
    expect(Object.keys(schemas.Plant.properties)).toEqual(['name', 'tag'])
  })

  test('writes no number that a double would round, and says the bounds of an id in words', () => {
    const { id } = schemas.NewPlant.allOf[1].properties
    expect(id).toMatchObject({ type: 'integer', format: 'int64' })
    expect(id.description).toContain('9007199254740993 becomes 9007199254740992')
    expect(id.description).toContain(`from ${INT64_MIN} to ${INT64_MAX}.`)
    const numbers = committed.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d+/g) ?? []
    expect(numbers).toContain('40003')
    expect(numbers.filter((number) => !Number.isSafeInteger(Number(number)))).toEqual([])
  })

  // JSON Schema 2020-12 §6.4 asks for Unicode mode; many validators do without.
  test.each(['', 'u', 'v'])('has a pattern that, with flags "%s", takes what is taken', (flags) => {
    const pattern = new RegExp(schemas.Plant.properties.name.pattern, flags)
    const texts = ['', 'Fern', '🌿', 'a\nb', '\n', '\u2028', '\u0000', 'a\n\u0000', '🌿\u0000b']
    expect(texts.map((text) => pattern.test(text))).toEqual(
      texts.map((name) => Plant.safeParse({ name }).success),
    )
  })

  test.each(['name', 'tag'])('says of a %s in words what the pattern cannot say', (field) => {
    const { description, pattern } = schemas.Plant.properties[field]
    expect(new RegExp(pattern, 'u').test('\ud800')).toBe(true)
    expect(Plant.safeParse({ name: '\ud800' }).success).toBe(false)
    expect(description).toContain('no lone surrogate')
  })

  test('names its own place as the base address, and says that the number of an Error is an int32', () => {
    expect(document.servers).toMatchObject([{ url: '/' }])
    expect(schemas.Error.properties.error).toMatchObject({ type: 'integer', format: 'int32' })
  })

  test.each(Object.entries(errorTable))(
    'describes %s under its status and in the list of all errors',
    (name, { code, status }) => {
      const { description, content } = operation.responses[status]
      const line = `\`${code}\` \`${name}\`: `
      expect(description).toContain(line)
      expect(schemas.Error.properties.error.description).toContain(line)
      expect(content['application/json'].examples[name].value.error).toBe(code)
    },
  )

  test.each([
    [200, 'X-Request-Id'],
    [401, 'WWW-Authenticate'],
    [405, 'Allow'],
    [415, 'Accept'],
    [429, 'Retry-After'],
    [503, 'Retry-After'],
  ])('describes for %s the header %s', (status, header) => {
    expect(operation.responses[status].headers).toHaveProperty(header)
    expect(document.components.headers).toHaveProperty(header)
  })
})

test('the base address of the service stands in the document where one is given', () => {
  const url = 'https://plants.test'
  expect(createOpenApiDocument(url).servers).toMatchObject([{ url }])
})

test('in OpenAPI 3.0 says the same without the words of 3.1', () => {
  const json = encodeJson(createOpenApiDocument('/', '3.0'))
  expect(json).not.toMatch(/"const":|"examples":\[|"identifier":/)
  const { openapi, info, paths, components } = JSON.parse(json)
  expect(openapi).toBe('3.0.3')
  expect(info).toEqual({
    title: document.info.title,
    version: document.info.version,
    description: document.info.description,
    contact: document.info.contact,
    license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  })
  const { default: unknownFailure, ...responses } = operation.responses
  expect(paths).toEqual({ '/plants': { post: { ...operation, responses } } })
  expect(components.securitySchemes).toEqual(document.components.securitySchemes)
  const { name } = components.schemas.Plant.properties
  const { examples, ...same } = schemas.Plant.properties.name
  expect(name).toEqual({ ...same, example: examples[0] })
  expect(components.headers.Allow.schema).toEqual({ type: 'string', enum: ['POST'] })
})
