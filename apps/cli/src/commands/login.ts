import { text } from 'node:stream/consumers'
import { isPlantStoreError } from '@plant-store/client'
import type { Command } from 'commander'
import { CliError, exitCodes } from '../cli-error.ts'
import { createClient } from '../connection.ts'
import { saveLogin } from '../logins.ts'
import { exitCodeOf, hintOf } from '../outcome.ts'
import { ask } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { describeToken, readTokenFile } from '../token.ts'

const EXAMPLES = `
Examples:
  plant-store login https://plants.example
  plant-store login https://plants.example --token-file token.txt
  plant-store login https://plants.example < token.txt`

async function readToken(terminal: Terminal): Promise<string> {
  if (terminal.input.isTTY && !terminal.isInteractive) {
    const hint = '--token-file, or the token on stdin'
    throw new CliError('nobody can be asked for the token here', exitCodes.usage, hint)
  }
  const typed = terminal.isInteractive
    ? await ask(terminal, 'Token (it is not shown): ', { isHidden: true })
    : (await text(terminal.input)).trim()
  if (typed !== '') return typed
  const hint = 'a token, which the operator of the plant store gives out'
  throw new CliError('no token was given; nothing is saved', exitCodes.usage, hint)
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Only a warning: a private network may be protected otherwise. */
function warnOfPlainText(baseUrl: string, terminal: Terminal): void {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return
  terminal.err('Everybody on the way can read the token: this URL is http, not https.')
}

async function login(
  baseUrl: string,
  { tokenFile }: { readonly tokenFile?: string },
  terminal: Terminal,
): Promise<void> {
  // Before anybody types a token in vain.
  createClient({ baseUrl, token: 'any' })
  warnOfPlainText(baseUrl, terminal)
  const token = await (tokenFile === undefined ? readToken(terminal) : readTokenFile(tokenFile))
  try {
    await createClient({ baseUrl, token }).checkToken({ signal: terminal.stop })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    const hint = hintOf(error, `plant-store login ${baseUrl} with`)
    throw new CliError(`nothing is saved: ${error.message}`, exitCodeOf(error), hint)
  }
  const path = await saveLogin({ baseUrl, token }, terminal)
  terminal.err(`${baseUrl} takes the token ${describeToken(token)}.`)
  terminal.err(`Saved in ${path}`)
  if (terminal.environment.baseUrl ?? terminal.environment.token) {
    const names = 'PLANT_STORE_BASE_URL or PLANT_STORE_TOKEN'
    terminal.err(`${names} is set, which counts more than a login.`)
  }
}

export function addLoginCommand(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .argument('<url>', 'the URL of the plant store, such as https://plants.example')
    .description('save a URL and its token, once the plant store has taken the token')
    .option('--token-file <path>', 'a file that holds the token (default: asked for, or stdin)')
    .addHelpText('after', EXAMPLES)
    .action((url, options) => login(url, options, terminal))
}
