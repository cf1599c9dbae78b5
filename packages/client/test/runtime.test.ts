import { expect, test, vi } from 'vitest'
import { systemRuntime } from '../src/runtime.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

test.each(['with crypto.randomUUID', 'on a page without TLS, which has no crypto.randomUUID'])(
  'a request id is a UUID of its own %s',
  (place) => {
    if (place.startsWith('on a page')) {
      const getRandomValues = crypto.getRandomValues.bind(crypto)
      vi.stubGlobal('crypto', { getRandomValues })
    }
    try {
      const ids = Array.from({ length: 1_000 }, () => systemRuntime.newRequestId())
      expect(new Set(ids).size).toBe(1_000)
      expect(ids.filter((id) => !UUID.test(id))).toEqual([])
    } finally {
      vi.unstubAllGlobals()
    }
  },
)
