/** A request, what the server answers it, and whether the document forbids it. */
export interface Row {
  readonly claim: string
  readonly status: number
  readonly isForbidden: boolean
  readonly method?: string
  readonly path?: string
  /** Null leaves the header out. */
  readonly authorization?: string | null
  readonly contentType?: string
  readonly body?: string
}

/** The largest and the smallest id that Prism passes on as they are: it reads ids as doubles. */
const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number

/**
 * Beyond Prism, and so tried without it by the wire tests and by the page: ids past 2^53, whose
 * digits it rounds on the way and which it holds against 2^53−1; and bodies that are not JSON, which
 * it never passes on.
 */
export const rows: readonly Row[] = [
  good('a plant with a tag', '{"id":1,"name":"Fern","tag":"indoor"}'),
  good('a plant without a tag', '{"id":2,"name":"Moss"}'),
  good('empty texts', '{"id":3,"name":"","tag":""}'),
  good('text beyond ASCII', '{"id":4,"name":"Фикус 🌿","tag":"a\\nb"}'),
  good('the largest id that a double holds', `{"id":${MAX_SAFE_INTEGER},"name":"Fern"}`),
  good('the smallest id that a double holds', `{"id":${MIN_SAFE_INTEGER},"name":"Fern"}`),
  good('another spelling of an id', '{"id":70e-1,"name":"Fern"}'),
  good('members beyond a plant', '{"id":8,"name":"Fern","more":[1,{"a":null}]}'),
  bad('an id that is taken', '{"id":1,"name":"Moss"}', { isForbidden: false }),
  bad('no id', '{"name":"Fern"}'),
  bad('no name', '{"id":9}'),
  bad('a fraction for an id', '{"id":1.5,"name":"Fern"}'),
  bad('an id as a string', '{"id":"9","name":"Fern"}'),
  bad('an id far beyond int64', '{"id":1e30,"name":"Fern"}'),
  bad('null for a name', '{"id":9,"name":null}'),
  bad('null for a tag', '{"id":9,"name":"Fern","tag":null}'),
  bad('U+0000 in a name', '{"id":9,"name":"a\\u0000b"}'),
  bad('an array', '[]'),
  bad('a string', '"Fern"'),
  bad('nothing', ''),
  bad('no token', undefined, { authorization: null, status: 401 }),
  bad('a token that is not known', undefined, {
    authorization: 'Bearer none',
    status: 401,
    isForbidden: false,
  }),
  bad('another scheme', undefined, { authorization: 'Basic bm9uZQ==', status: 401 }),
  bad('another media type', undefined, { contentType: 'text/plain', status: 415 }),
  bad('a body beyond the limit', `{"id":9,"name":"${'a'.repeat(70_000)}"}`, {
    status: 413,
    isForbidden: false,
  }),
]

/** What the document has no operation for; Prism says so and has nothing to hold the answer against. */
export const unknownRows: readonly Row[] = [
  bad('another method', '', { method: 'PUT', status: 405 }),
  bad('another path', undefined, { path: '/plants/', status: 404 }),
]

function good(claim: string, body: string): Row {
  return { claim, status: 200, isForbidden: false, body }
}

function bad(claim: string, body?: string, more: Partial<Row> = {}): Row {
  const fern = '{"id":9,"name":"Fern"}'
  return { claim, status: 400, isForbidden: true, body: body ?? fern, ...more }
}
