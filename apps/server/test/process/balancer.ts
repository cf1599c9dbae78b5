import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** One address in front of several servers: the simplest balancer there is, over TCP. */
export interface Balancer {
  readonly url: string
  /** Leads new connections of a place to another port; those that are open stay. */
  lead(place: number, port: number): void
  /** How many connections are open to the server of a place. */
  openTo(place: number): number
  close(): Promise<void>
}

/** Gives each connection to the next server in turn, and to another one where it is refused. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const targets = [...ports]
  const open = targets.map(() => new Set<Socket>())
  const callers = new Set<Socket>()
  let turn = 0

  function join(caller: Socket, onward: Socket, place: number): void {
    open[place]?.add(onward)
    onward.once('close', () => {
      open[place]?.delete(onward)
      caller.destroy()
    })
    caller.once('close', () => onward.destroy())
    caller.pipe(onward).pipe(caller)
  }

  function leadOn(caller: Socket, place: number, triesLeft: number): void {
    const onward = connect({ port: targets[place] ?? 0, host: '127.0.0.1' })
    const refused = () => {
      if (triesLeft > 1) leadOn(caller, (place + 1) % targets.length, triesLeft - 1)
      else caller.destroy()
    }
    onward.once('error', refused)
    onward.once('connect', () => {
      onward.off('error', refused).on('error', () => {})
      join(caller, onward, place)
    })
  }

  const server = createServer((caller) => {
    callers.add(caller)
    caller.on('error', () => {}).once('close', () => callers.delete(caller))
    leadOn(caller, turn++ % targets.length, targets.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(place, port) {
      targets[place] = port
    },
    openTo: (place) => open[place]?.size ?? 0,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const caller of callers) caller.destroy()
      await closed
    },
  }
}
