import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** A program that runs, on whatever system this is. */
export interface RunningProgram {
  /** Resolves with the first match in what was printed, standard error included. */
  print(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves at its end, with its exit code, or null after a signal, and all that it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>
  /** Sends a signal to the process that was started, and to no other. */
  signal(name: NodeJS.Signals): void
  /** Ends it at once, as a failing machine does. */
  kill(): Promise<unknown>
}

export interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Its own variables, and what Windows cannot do without; nothing of the test runner. */
function environmentOf(env: RunOptions['env'] = {}): NodeJS.ProcessEnv {
  const names = [
    'HOME',
    'PATH',
    'SystemRoot',
    'ComSpec',
    'TEMP',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
  ]
  const given = names.map((name) => [name, process.env[name]] as const)
  const free = { PLANT_STORE_LISTEN: '127.0.0.1:0', PLANT_STORE_OPERATIONS_LISTEN: '127.0.0.1:0' }
  return {
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
    ...free,
    ...env,
  }
}

function start(command: string, args: readonly string[], { cwd, env }: RunOptions): ChildProcess {
  const options = { cwd, env: environmentOf(env) }
  if (process.platform !== 'win32') return spawn(command, args, options)
  // A batch file runs in the shell of Windows alone, which has quotes of its own.
  const line = [command, ...args].map((word) => `"${word}"`).join(' ')
  const words = ['/d', '/s', '/c', `"${line}"`]
  return spawn('cmd.exe', words, { ...options, windowsVerbatimArguments: true })
}

/** Starts a program; the end of the test ends it. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: RunOptions,
): RunningProgram {
  const child = start(command, args, options)
  let text = ''
  const ended = new Promise<{ code: number | null; text: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })
  const streams = [child.stdout, child.stderr]
  for (const stream of streams) {
    stream?.on('data', (chunk) => {
      text += chunk
    })
  }
  const kill = () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && process.platform !== 'win32') child.kill('SIGKILL')
    else if (isRunning) execFileSync('taskkill', ['/pid', String(child.pid), '/t', '/f'])
    return ended
  }
  onTestFinished(async () => {
    const killed = kill()
    // A process that it has left behind may hold them.
    for (const stream of streams) stream?.destroy()
    await killed
  })
  return {
    ended,
    kill,
    signal: (name) => child.kill(name),
    print: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text)
          if (match !== null) resolve(match)
        }
        for (const stream of streams) stream?.on('data', look)
        ended.then(() => reject(new Error(`ended without ${pattern}: ${text}`)), reject)
        look()
      }),
  }
}
