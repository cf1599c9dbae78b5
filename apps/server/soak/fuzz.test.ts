import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { errorTable } from '@plant-store/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { post, type ServerProcess, startServerProcess } from '../../../test/server-process.ts'
import { readPlants } from '../../../test/sqlite-file.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { memoryOf } from '../test/limits/memory.ts'
import { type Input, input, TOKEN } from './inputs.ts'

/** Inputs after which the server is looked at, on average half as many. */
const BURST = 100

/** How many connections are open at the same time. */
const CALLERS = 20

/** How long a response may take. */
const PATIENCE_MS = 10_000

/** The resident memory that a server may take. */
const MEMORY_BOUND_MIB = 300

const TIMEOUT_MS = 600_000

const COUNT = Number(process.env.PLANT_STORE_TEST_INPUTS ?? 50_000)

/** What may be logged at `warn`: that a limit acts. */
const LIMITS = /"level":"warn".*"msg":"limits? /

const HEAD = /^HTTP\/1\.1 (\d{3}) [\w ]+((?:\r\n[!#$%&'*+.^_`|~\w-]+: ?[^\r\n\0]*)*)\r\n\r\n/

const codes = new Map<number, number>(
  Object.values(errorTable).map(({ code, status }) => [code, status]),
)

/** Whether a body is what the interface promises for its status. */
function isPromised(status: number, head: string, body: string): boolean {
  // The document and its page; what operators ask.
  if (status < 400 && /\r\n(?:etag: |content-type: text\/plain)/i.test(head)) return true
  if (status < 400 && /^\{"status":"\w+"\}$/.test(body)) return true
  const { error, message, name, tag = '', ...others } = JSON.parse(body)
  if (Object.keys(others).length > 0) return false
  if (status < 400) return typeof name === 'string' && typeof tag === 'string'
  return codes.get(error) === status && typeof message === 'string'
}

/** Each response must be promised. The last may be cut off where the caller cut the connection. */
function findWrongResponse(received: string, hasHead: boolean): string | undefined {
  for (let rest = received; rest.includes('\r\n\r\n'); ) {
    const [head, digits] = HEAD.exec(rest) ?? []
    if (head === undefined) return `no response of HTTP: ${JSON.stringify(rest.slice(0, 300))}`
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const body = rest.slice(head.length, head.length + length)
    const status = Number(digits)
    // A response to HEAD has no body: another follows, or the end.
    const isBodyless = hasHead && (body === '' || body.startsWith('HTTP/1.1 '))
    const isWhole = !isBodyless && status !== 100 && status !== 304 && body.length === length
    if (isWhole && !isPromised(status, head, Buffer.from(body, 'latin1').toString())) {
      return `not in the interface: ${JSON.stringify(head + body.slice(0, 300))}`
    }
    rest = rest.slice(head.length + (isBodyless ? 0 : length))
  }
  return undefined
}

let calls = 0

/** Sends an input over a connection of its own, and gives what was wrong with the responses. */
async function send(server: ServerProcess, { listener, packets, ending }: Input) {
  const port = listener === 'service' ? server.port : Number(new URL(server.operationsUrl).port)
  // Limits count by address; Linux has them all.
  const localAddress = process.platform === 'linux' ? `127.0.1.${1 + (calls++ % 250)}` : '127.0.0.1'
  const socket = connect({ host: '127.0.0.1', localAddress, port, allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => (received += text))
  // Connections are refused, cut and reset here all the time.
  socket.on('error', () => {}).on('end', () => void socket.resetAndDestroy())
  const over = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  for (const packet of packets) {
    socket.write(Buffer.from(packet.replaceAll(TOKEN, server.token), 'latin1'))
    await nextTick()
  }
  if (ending === 'leave') await sleep(5)
  if (ending === 'finish') socket.end()
  else socket.resetAndDestroy()
  const late = sleep(PATIENCE_MS, 'no response and no end', { ref: false })
  const stalled = await Promise.race([over, late])
  socket.destroy()
  return findWrongResponse(received, packets.join('').includes('HEAD')) ?? stalled
}

/** What is wrong with the responses to inputs, or with the server then. */
async function judge(server: ServerProcess, inputs: readonly Input[]): Promise<string | undefined> {
  const waiting = inputs.values()
  const wrong: string[] = []
  const sendSome = async () => {
    for (const one of waiting) wrong.push((await send(server, one)) ?? '')
  }
  await Promise.all(Array.from({ length: CALLERS }, sendSome))
  const good = await post(server, { body: '{"id":7,"name":"Moss"}' }).then(
    async (response) => `${response.status} ${await response.text()}`,
    (error) => `fails: ${error.cause ?? error}`,
  )
  const logged = server.output().split('\n')
  const complaints = logged.filter((line) => line !== '' && !LIMITS.test(line))
  if (complaints.length > 0) return `the server logs:\n${complaints.join('\n')}`
  if (good !== '200 {"name":"Moss"}') return `a good create: ${good}`
  const found = wrong.find((text) => text !== '')
  const mebibytes = process.platform === 'linux' ? memoryOf(server.pid) : 0
  return found ?? (mebibytes > MEMORY_BOUND_MIB ? `it takes ${mebibytes} MiB` : undefined)
}

/** Sends bursts; after a wrong one a new server takes the smaller ones that show the same. */
async function fuzz(count: number, nodeFlags: readonly string[] = []) {
  const start = () =>
    startServerProcess({ nodeFlags, environment: { PLANT_STORE_LOG_LEVEL: 'warn' } })
  let server = await start()
  const burst = fc.array(input, { minLength: 1, maxLength: BURST, size: 'max' })
  const property = fc.asyncProperty(burst, async (inputs) => {
    const wrong = await judge(server, inputs)
    if (wrong === undefined) return
    await server.end('SIGKILL')
    server = await start()
    throw new Error(wrong)
  })
  const numRuns = Math.ceil((2 * count) / BURST)
  const details = await fc.check(property, { numRuns, interruptAfterTimeLimit: TIMEOUT_MS / 2 })
  return { details, ended: await server.end('SIGTERM') }
}

test(`${COUNT} mutated requests leave the server alive, right and within its memory`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { ended, details } = await fuzz(COUNT)
  expect(details.failed, fc.defaultReportMessage(details)).toBe(false)
  expect(ended.code).toBe(0)
})

/** What stands in the place of a byte; `$&` is the byte itself. */
const REPLACEMENTS = ['\0', '\n', '\r', ' ', ':', '\xff', '', '$&$&']

const plant = '{"id":1,"name":"Fern"}'

test.each([
  `Content-Length: ${plant.length}\r\n\r\n${plant}`,
  `Transfer-Encoding: chunked\r\n\r\n${plant.length.toString(16)}\r\n${plant}\r\n0\r\n\r\n`,
])('any one byte of a head may be another, missing or there twice, before %j', async (framed) => {
  const folder = temporaryFolder()
  const environment = { PLANT_STORE_LOG_LEVEL: 'warn' }
  const server = await startServerProcess({ folder, environment })
  const credential = `Authorization: Bearer ${server.token}`
  const lines = ['POST /plants HTTP/1.1', 'Host: a', credential, 'Content-Type: application/json']
  const text = [...lines, framed].join('\r\n')
  const inputs: Input[] = []
  for (let place = 0; place < text.indexOf('\r\n\r\n') + 4; place++) {
    for (const replacement of REPLACEMENTS) {
      const rest = text.slice(place).replace(/./s, replacement)
      inputs.push({ listener: 'service', packets: [text.slice(0, place) + rest], ending: 'finish' })
    }
  }
  expect(await judge(server, inputs)).toBeUndefined()
  await server.end()
  const stored = readPlants(join(folder, 'data/plants.db')).map(({ id }) => id)
  expect(stored).toEqual([1n, 7n])
})

/** As the server was once started, and ended; now it takes `__proto__` away, unless nothing may. */
const THROWING_PROTO = [
  '--disable-proto=throw',
  `--import=data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(Object.prototype, '__proto__', { configurable: false })",
  )}`,
]

test('an exception by a header named __proto__, which ends a connection, is found', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { errorInstance, counterexample } = (await fuzz(10_000, THROWING_PROTO)).details
  expect(String(errorInstance)).toMatch(/the server logs:\n.*ERR_PROTO_ACCESS/s)
  expect(JSON.stringify(counterexample)).toContain('__proto__')
})
