import type { Socket } from 'node:net'

/** The most bytes that one read of a socket returns. */
const READ_BYTES = 65_536

/** One for the thread: what a read brings has been used before the next read begins. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES)

/** What is behind the option `onread` of Node's sockets. */
interface Insides {
  readonly buffer: symbol
  readonly callback: symbol
  useUserBuffer(bytes: Uint8Array): void
}

function insidesOf(socket: Socket): Insides | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  const handle: unknown = Reflect.get(socket, '_handle')
  if (buffer === undefined || callback === undefined || !isHandle(handle)) return undefined
  return { buffer, callback, useUserBuffer: (bytes) => handle.useUserBuffer(bytes) }
}

function isHandle(handle: unknown): handle is Pick<Insides, 'useUserBuffer'> {
  return typeof handle === 'object' && handle !== null && 'useUserBuffer' in handle
}

/**
 * Lets a connection read into a buffer that all connections of the thread share: memory of its own
 * for each read takes a fourteenth of a create's processor time. From now on a `data` event may bring
 * bytes that are valid only until it is over. Node reads so by itself for `onread` of `net.connect`
 * and for its HTTP parser, but offers it for no accepted connection whose `data` somebody wants. On a
 * Node.js with other insides nothing changes; a test notices that.
 */
export function shareReads(socket: Socket): void {
  const insides = insidesOf(socket)
  if (insides === undefined) return
  const take = (length: number): boolean => {
    const bytes = shared.subarray(0, length)
    // Else it must wait its turn behind what is buffered already.
    if (!socket.readableFlowing || socket.readableLength > 0) return socket.push(Buffer.from(bytes))
    socket.emit('data', bytes)
    return true
  }
  Object.assign(socket, { [insides.buffer]: shared, [insides.callback]: take })
  insides.useUserBuffer(shared)
}
