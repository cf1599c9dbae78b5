import { errorTable } from '@plant-store/contract'

const HEAD_END = '\r\n\r\n'
const HEAD = /^HTTP\/1\.1 (\d{3}) [\w ]+((?:\r\n[!#$%&'*+.^_`|~\w-]+: ?[^\r\n\0]*)*)\r\n\r\n$/

const codes = new Map<number, number>(
  Object.values(errorTable).map(({ code, status }) => [code, status]),
)

function isError(status: number, body: string): boolean {
  const { error, message, ...others } = JSON.parse(body)
  const isWhole = typeof message === 'string' && Object.keys(others).length === 0
  return isWhole && codes.get(error) === status
}

function isPlant(body: string): boolean {
  const { name, tag = '', ...others } = JSON.parse(body)
  return typeof name === 'string' && typeof tag === 'string' && Object.keys(others).length === 0
}

/** Whether a body is what the interface promises for its status, of whatever is at a public path. */
function isPromised(status: number, head: string, body: string): boolean {
  try {
    if (status >= 400) return isError(status, body)
    // The document and its page; what operators ask.
    if (/\r\n(?:etag: |content-type: text\/plain)/i.test(head)) return true
    return /^\{"status":"\w+"\}$/.test(body) || isPlant(body)
  } catch {
    return false
  }
}

/**
 * What is wrong with all that a connection has answered, if anything: each must be a Plant, an Error,
 * a public document or a 100. The last may be cut off where the caller has cut the connection.
 */
export function findWrongReply(received: Buffer, hasHead: boolean): string | undefined {
  let rest = received.toString('latin1')
  while (rest !== '') {
    const end = rest.indexOf(HEAD_END) + HEAD_END.length
    if (end < HEAD_END.length) return undefined
    const head = rest.slice(0, end)
    const [, digits, headers = ''] = HEAD.exec(head) ?? []
    if (digits === undefined) return `no reply of HTTP: ${JSON.stringify(head)}`
    const status = Number(digits)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(headers)?.[1] ?? 0)
    const body = rest.slice(end, end + length)
    // A reply to HEAD has no body: another follows, or the end.
    const isBodyless = hasHead && (body === '' || body.startsWith('HTTP/1.1 '))
    rest = isBodyless ? rest.slice(end) : rest.slice(end + length)
    const isWithout = isBodyless || status === 100 || status === 304 || body.length < length
    if (!isWithout && !isPromised(status, head, Buffer.from(body, 'latin1').toString())) {
      return `not in the interface: ${JSON.stringify(head + body.slice(0, 300))}`
    }
  }
  return undefined
}
