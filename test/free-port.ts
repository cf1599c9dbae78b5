import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems hand out by themselves, from 32,768 on: neither a connection nor a
 * listener at port 0 of another test takes such a port while nobody listens there.
 */
const [FIRST, LAST] = [15_000, 32_000]

// One after the other, so that two processes hardly ever try the same one at the same time.
let next = randomInt(FIRST, LAST)

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const closed = once(server, 'close').then(() => true)
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE') resolve(false)
      else reject(new Error(`cannot listen at ${port}: ${code}`))
    })
    server.listen(port, '127.0.0.1', () => {
      server.close()
      resolve(closed)
    })
  })
}

/** A TCP port where nobody listens, and where what the test starts may listen again and again. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = next
    next = port < LAST ? port + 1 : FIRST
    if (await isFree(port)) return port
  }
}
