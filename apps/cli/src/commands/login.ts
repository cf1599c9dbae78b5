import { isPlantStoreError } from '@plant-store/client'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import { createClient, type Target } from '../connection.ts'
import { exitCodes } from '../exit-codes.ts'
import { exitCodeOf, hintOf } from '../failure.ts'
import { readLogins, saveLogin } from '../logins.ts'
import { ask, askHidden } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { describeToken, readTokenFile } from '../token.ts'

interface LoginOptions {
  readonly tokenFile?: string
}

const EXAMPLES = `
Examples:
  plant-store login https://plants.example
  plant-store login https://plants.example --token-file token.txt
  plant-store login https://plants.example < token.txt`

/** Many times what a token has. */
const MOST_CHARACTERS = 65_536

async function readPiped(terminal: Terminal): Promise<string> {
  let text = ''
  for await (const chunk of terminal.input) {
    text += chunk
    if (text.length > MOST_CHARACTERS) throw new CliError('stdin holds no token', exitCodes.usage)
  }
  return text.trim()
}

async function readToken({ tokenFile }: LoginOptions, terminal: Terminal): Promise<string> {
  if (tokenFile !== undefined) return readTokenFile(tokenFile)
  if (terminal.input.isTTY && !terminal.isInteractive) {
    throw new CliError('nobody can be asked for the token here', exitCodes.usage, {
      hint: '--token-file, or the token on stdin',
    })
  }
  const token = terminal.isInteractive
    ? (await askHidden(terminal, 'Token (it is not shown): ')).trim()
    : await readPiped(terminal)
  if (token !== '') return token
  throw new CliError('no token was given; nothing is saved', exitCodes.usage, {
    hint: 'a token, which the operator of the plant store gives out',
  })
}

/** The URL that was given, or that of the last login, or what a person says. */
async function readUrl(url: string | undefined, terminal: Terminal): Promise<string> {
  if (url !== undefined) return url
  // A file that holds no logins is about to be replaced.
  const earlier = await readLogins(terminal).catch(() => [])
  const known = terminal.environment.PLANT_STORE_BASE_URL ?? earlier.at(-1)?.baseUrl
  if (known !== undefined) return known
  if (terminal.isInteractive) {
    const answer = (await ask(terminal, 'URL of the plant store: ')).trim()
    if (answer !== '') return answer
  }
  throw new CliError('the URL of the plant store is missing', exitCodes.usage, {
    hint: 'plant-store login URL',
  })
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Only a warning: a private network may be protected otherwise. */
function warnOfPlainText(baseUrl: string, terminal: Terminal): void {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return
  terminal.err('Everybody on the way can read the token: this URL is http, not https.')
}

function warnOfEnvironment({ environment }: Terminal, warn: (text: string) => void): void {
  const { PLANT_STORE_BASE_URL: url, PLANT_STORE_TOKEN: token } = environment
  const names = [url && 'PLANT_STORE_BASE_URL', token && 'PLANT_STORE_TOKEN'].filter(Boolean)
  if (names.length > 0)
    warn(`The environment counts more than a login: ${names.join(', ')} is set.`)
}

async function checkToken(target: Target, terminal: Terminal): Promise<void> {
  try {
    await createClient(target).checkToken({ signal: terminal.stop })
  } catch (error) {
    if (!isPlantStoreError(error)) throw error
    throw new CliError(`nothing is saved: ${error.message}`, exitCodeOf(error), {
      hint: hintOf(error),
      cause: error,
    })
  }
}

async function login(
  url: string | undefined,
  options: LoginOptions,
  terminal: Terminal,
): Promise<void> {
  const baseUrl = { value: await readUrl(url, terminal), from: 'as it was given' }
  // Before anybody types a token in vain.
  createClient({ baseUrl, token: { value: 'any', from: '' } })
  warnOfPlainText(baseUrl.value, terminal)
  const token = { value: await readToken(options, terminal), from: 'as it was given' }
  await checkToken({ baseUrl, token }, terminal)
  const path = await saveLogin({ baseUrl: baseUrl.value, token: token.value }, terminal)
  terminal.err(`${baseUrl.value} takes the token ${describeToken(token.value)}.`)
  terminal.err(`Saved in ${path}`)
  warnOfEnvironment(terminal, terminal.err)
}

export function addLoginCommand(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .argument('[url]', 'the URL of the plant store, such as https://plants.example')
    .description('save a URL and its token, once the plant store has taken the token')
    .option(
      '--token-file <path>',
      'a file that holds the token (default: it is asked for, or stdin)',
    )
    .addHelpText('after', EXAMPLES)
    .action((url: string | undefined, options: LoginOptions) => login(url, options, terminal))
}
