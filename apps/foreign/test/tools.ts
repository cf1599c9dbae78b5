import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../packages/client/runtimes/needs.ts'

/** The folder of the tools, which is installed by itself. */
export const tools = join(import.meta.dirname, '../tools')

/** The tools are large, so a clone does without until `pnpm install` was run in their folder. */
export const needsTools = needs(
  '`pnpm install` in apps/foreign/tools',
  existsSync(join(tools, 'node_modules')),
)

/** The committed document. */
export const document = fileURLToPath(import.meta.resolve('@plant-store/contract/openapi.json'))

/** The environment of a tool: no word home, no words on newer versions, and this Node.js. */
const environment = {
  ...env,
  PATH: `${dirname(process.execPath)}:${env.PATH}`,
  NO_COLOR: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
}

function pathOfTool(name: string): string {
  return join(tools, 'node_modules/.bin', name)
}

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a tool in a folder, that of the tools by default, until it ends. */
export function runTool(
  name: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  cwd = tools,
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...environment, ...more } }
    execFile(pathOfTool(name), args, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

export interface RunningTool {
  /** The first match in what it has printed. */
  readonly found: RegExpExecArray
  /** Ends it with all that it started. */
  stop(): Promise<void>
}

/** Starts a tool and waits until it has printed what is looked for. */
export function startTool(
  name: string,
  args: readonly string[],
  pattern: RegExp,
): Promise<RunningTool> {
  const child: ChildProcess = spawn(pathOfTool(name), args, {
    cwd: tools,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const stop = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    return ended
  }
  return new Promise((resolve, reject) => {
    let printed = ''
    const look = (chunk: Buffer) => {
      printed += chunk
      const found = pattern.exec(printed)
      if (found !== null) resolve({ found, stop })
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.on('error', reject)
    void ended.then(() => reject(new Error(`${name} ended: ${printed}`)))
  })
}
