import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/**
 * Loaded into the server before it runs: makes Node's own code throw where a request asks for it by
 * the header `x-fault`, as a defect of Node or of a library would.
 */
function faultOf({ rawHeaders }: IncomingMessage): string | undefined {
  return rawHeaders[rawHeaders.indexOf('x-fault') + 1]
}

function throwAt(fault: string, request: IncomingMessage): void {
  if (faultOf(request) === fault) throw new Error(`injected: ${fault}`)
}

// What Node calls for each line when the headers of a request are first looked at.
const lines = IncomingMessage.prototype as unknown as {
  _addHeaderLine: (...args: unknown[]) => void
}
const addLine = lines._addHeaderLine
lines._addHeaderLine = function (this: IncomingMessage, ...args) {
  throwAt('headers', this)
  return Reflect.apply(addLine, this, args)
}

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

const { writeHead, end } = ServerResponse.prototype
Object.assign(ServerResponse.prototype, {
  writeHead(this: ServerResponse, ...args: unknown[]) {
    throwAt('answer', this.req)
    return Reflect.apply(writeHead, this, args)
  },
  end(this: ServerResponse, ...args: unknown[]) {
    throwAt('end of reply', this.req)
    return Reflect.apply(end, this, args)
  },
})

const { push } = IncomingMessage.prototype
IncomingMessage.prototype.push = function (chunk: Buffer | null, encoding?: BufferEncoding) {
  throwAt(chunk === null ? 'end of body' : 'body', this)
  return push.call(this, chunk, encoding)
}

const writeSocket = Socket.prototype.write
Object.assign(Socket.prototype, {
  write(this: Socket, text: unknown, ...more: unknown[]) {
    if (typeof text === 'string' && text.startsWith('HTTP/1.1 400')) {
      throw new Error('injected: raw answer')
    }
    return Reflect.apply(writeSocket, this, [text, ...more])
  },
})
