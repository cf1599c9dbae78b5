import {
  copyFreshly,
  plainEnvironment,
  runInShell,
  type Shell,
} from '../../docs/test/fresh-copy.ts'

export { copyFreshly, plainEnvironment, runInShell }

/** A server that was started from what is released. */
export interface InstalledServer {
  readonly url: string
  /** What its first start printed; of a later one, the one that was given. */
  readonly token: string
  /** Where operators look. */
  readonly operationsUrl: string
  /** The version of the program. */
  readonly version: string
  /** Sends a plant; gives the status and the body, and whether it was there already. */
  store(plant: string): Promise<Reply>
  get(path: string): Promise<Response>
  /** Ends it as an operator does; gives all that it printed. */
  end(): Promise<string>
  /** Ends it as a failing machine does; gives all that it printed. */
  kill(): Promise<string>
}

export interface Reply {
  readonly status: number
  readonly text: string
  readonly isReplay: boolean
}

async function store(url: string, token: string, body: string): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const reply = await fetch(`${url}/plants`, { method: 'POST', headers, body })
  const { status } = reply
  return { status, text: await reply.text(), isReplay: reply.headers.has('idempotent-replayed') }
}

async function serve(shell: Shell, known: string | undefined): Promise<InstalledServer> {
  const [, url = '', operationsUrl = '', version = '', pid = ''] = await shell.print(
    /"url":"(http:[^"]+)","operationsUrl":"(http:[^"]+)","version":"([^"]+)".*"pid":(\d+).*"msg":"listening"/,
  )
  const token = known ?? (await shell.print(/^ {2}(plant_\S+)$/m))[1] ?? ''
  return {
    url,
    operationsUrl,
    token,
    version,
    store: (plant) => store(url, token, plant),
    get: (path) => fetch(`${url}${path}`),
    end() {
      process.kill(Number(pid), 'SIGTERM')
      return shell.ended
    },
    kill: () => shell.kill(),
  }
}

/**
 * Starts a server as a person does, by a line in a shell, and waits until it listens. Its ports are
 * free ones. `token`: that of an earlier start in this folder.
 */
export function startInstalled(
  folder: string,
  line: string,
  environment: NodeJS.ProcessEnv = {},
  token?: string,
): Promise<InstalledServer> {
  return serve(runInShell(folder, line, environment), token)
}
