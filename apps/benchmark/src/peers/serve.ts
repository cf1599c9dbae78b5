/** What a peer that listens gives. */
export interface Peer {
  readonly port: number
  close(): Promise<void>
}

/** Says where a peer listens, as our server does, and closes it when it is asked to end. */
export function serve({ port, close }: Peer): void {
  process.once('SIGTERM', async () => {
    await close()
    process.exit()
  })
  console.log(`http://127.0.0.1:${port}`)
}
