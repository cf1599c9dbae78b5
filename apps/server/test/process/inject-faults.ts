import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/**
 * Loaded into the server before it runs: makes Node's own code throw where a request asks for it by
 * the header `x-fault`, as a defect of Node or of a library would.
 */
function throwAt(fault: string, { rawHeaders }: IncomingMessage): void {
  const asked = rawHeaders[rawHeaders.indexOf('x-fault') + 1]
  if (asked === fault) throw new Error(`injected: ${fault}`)
}

type Method<Holder> = (this: Holder, ...args: unknown[]) => unknown

/** Lets something happen before a method of Node's. */
function before<Holder extends object>(holder: Holder, name: string, happen: Method<Holder>): void {
  const method = Reflect.get(holder, name) as Method<Holder>
  Object.assign(holder, {
    [name](this: Holder, ...args: unknown[]) {
      happen.apply(this, args)
      return method.apply(this, args)
    },
  })
}

// What Node calls for each line when the headers of a request are first looked at.
before(IncomingMessage.prototype, '_addHeaderLine', function () {
  throwAt('headers', this)
})
before(IncomingMessage.prototype, 'push', function (chunk) {
  throwAt(chunk === null ? 'end of body' : 'body', this)
})
before(ServerResponse.prototype, 'writeHead', function () {
  throwAt('answer', this.req)
})
before(ServerResponse.prototype, 'end', function () {
  throwAt('end of response', this.req)
})
before(Socket.prototype, 'write', (text) => {
  if (typeof text === 'string' && text.startsWith('HTTP/1.1 400'))
    throw new Error('injected: raw answer')
})

const locals = Symbol('locals')
Object.defineProperty(ServerResponse.prototype, 'locals', {
  get(this: ServerResponse & { [locals]?: object }) {
    return this[locals]
  },
  set(this: ServerResponse & { [locals]?: object }, value: object) {
    throwAt('locals', this.req)
    this[locals] = value
  },
})
