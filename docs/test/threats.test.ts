import { describe, expect, test } from 'vitest'
import { read } from './markdown.ts'

const text = read('SECURITY.md')

/** Every line that names a test: the risk that it stands under, its file and its claim. */
const lines = text.split(/^### /m).flatMap((section) => {
  const risk = section.split(':')[0] ?? ''
  const named = section.matchAll(/^- \[[\w.-]+\]\(([\w./-]+)\): "(.+)"$/gm)
  return [...named].map(([, file = '', claim = '']) => ({ risk, file, claim }))
})

test('the threat model speaks of each of the ten risks of 2023, in their order', () => {
  const risks = [...text.matchAll(/^### (API\d+): /gm)].map(([, risk]) => risk)
  expect(risks).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}`))
})

test('every risk but the one that does not exist here has a test', () => {
  const held = new Set(lines.map(({ risk }) => risk))
  expect([...held]).toEqual([
    'API1',
    'API2',
    'API3',
    'API4',
    'API5',
    'API7',
    'API8',
    'API9',
    'API10',
  ])
})

test('every line under a risk is one that is checked', () => {
  const model = text.slice(text.indexOf('### API1'))
  expect(model.match(/^- /gm)).toHaveLength(lines.length)
})

describe('the claim is that of a test or of a group of tests:', () => {
  test.each(lines)('$claim', ({ file, claim }) => {
    const line = read(file)
      .split('\n')
      .find((candidate) => candidate.includes(claim))
    expect(line).toMatch(/\b(?:test|describe)\b|^\s*\]\)\(|^\s*['"]/)
  })
})
