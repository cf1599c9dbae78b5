import { describe, expect, test } from 'vitest'
import {
  formatReport,
  listPublishedVersions,
  makeCurrentDocument,
  readPublishedDocument,
  reportChanges,
} from '../../document-changes/report.ts'
import { stepBetween, versionOf } from '../../document-changes/version-step.ts'
import { type Change, plantOf, readSample } from './changed-document.ts'

test('the version of the contract says what has changed since it was published', () => {
  const report = reportChanges(readPublishedDocument(), makeCurrentDocument())
  expect(report.isTold, formatReport(report)).toBe(true)
})

test('each published document is kept under its own version', () => {
  const versions = listPublishedVersions()
  expect(versions.length).toBeGreaterThan(0)
  expect(versions.map((version) => versionOf(readPublishedDocument(version)))).toEqual(versions)
})

/** A report on version 1.0.0 after a change, under another version. */
function reportOn(version: string, change: Change) {
  const was = readSample()
  const is = structuredClone(was)
  change(is)
  is.info.version = version
  return reportChanges(was, is)
}

const breaking: Change = (document) => plantOf(document).required.push('tag')
const additive: Change = (document) => {
  plantOf(document).properties.colour = { type: 'string' }
}
const editorial: Change = (document) => {
  plantOf(document).description = 'a'
}

describe('the version', () => {
  test.each<[version: string, kind: string, isEnough: boolean, change: Change]>([
    ['1.0.0', 'no', true, () => {}],
    ['1.0.0', 'an editorial', true, editorial],
    ['1.0.1', 'an editorial', true, editorial],
    ['1.0.0', 'an additive', false, additive],
    ['1.0.1', 'an additive', false, additive],
    ['1.1.0', 'an additive', true, additive],
    ['2.0.0', 'an additive', true, additive],
    ['1.0.0', 'a breaking', false, breaking],
    ['1.1.1', 'a breaking', false, breaking],
    ['2.0.0', 'a breaking', true, breaking],
  ])('%s after %s change since 1.0.0 is enough: %s', (version, _kind, isEnough, change) => {
    expect(reportOn(version, change).isTold).toBe(isEnough)
  })

  test('is never before the published one', () => {
    expect(() => reportOn('0.9.9', editorial)).toThrow('0.9.9 is before 1.0.0')
  })

  test.each([
    ['1.2.3', '1.2.3', 'none'],
    ['1.2.3', '1.2.4', 'patch'],
    ['1.2.3', '1.10.0', 'minor'],
    ['1.2.3', '2.0.0', 'major'],
  ])('from %s to %s is a step of: %s', (was, is, step) => {
    expect(stepBetween(was, is)).toBe(step)
  })

  test.each(['1.0', '1.0.0-rc.1', 'one', ''])('is three numbers, so not %j', (version) => {
    expect(() => stepBetween('1.0.0', version)).toThrow(RangeError)
  })
})

test('a report names each change and the version that it needs', () => {
  expect(formatReport(reportOn('1.0.1', breaking)).split('\n')).toEqual([
    'breaking: request-property-became-required at POST /plants #/components/schemas/Plant/properties/tag',
    'additive: response-property-became-required at POST /plants #/components/schemas/Plant/properties/tag',
    '2 changes since the published document; info.version is 1.0.1, was 1.0.0: this needs a major version',
    '',
  ])
})
