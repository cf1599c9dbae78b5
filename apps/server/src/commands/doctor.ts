import type { Command } from 'commander'
import { takesJwt } from '../auth/authenticate.ts'
import { findEndingTokens, isUsable, TOKEN_WARNING_MS } from '../auth/tokens.ts'
import { type Config, type Flags, loadConfig } from '../config/config.ts'
import type { SettingName } from '../config/settings.ts'
import { engineOf } from '../engines.ts'
import { build } from '../process/build.ts'
import type { Fact } from '../store/engine.ts'
import { StoreRefusedError, StoreUnavailableError, type TokenRecord } from '../store/store.ts'
import { describeCount } from '../text/describe-count.ts'
import { displayName } from '../text/display-name.ts'
import { printableLine } from '../text/printable.ts'
import { addSettingFlags } from './command.ts'
import { unlessStopped, withFix } from './failures.ts'
import type { Terminal } from './terminal.ts'

/**
 * Says how many tokens open the service, and warns where none does and of each without a successor
 * that ends within 14 days or has ended in the last 14 days.
 */
export function describeTokens(
  tokens: readonly TokenRecord[],
  now: number,
  takesJwts: boolean,
): Fact[] {
  const name = 'tokens'
  const usable = tokens.filter((token) => isUsable(token, now)).length
  const fix = 'plant-store-server token create --name NAME'
  const closed = { warning: 'no token opens the service', fix }
  const isClosed = usable === 0 && !takesJwts
  const first: Fact = { name, value: `${usable} in use`, ...(isClosed && closed) }
  const ending = findEndingTokens(tokens, now).filter(
    ({ expiresAt }) => Math.abs(expiresAt - now) <= TOKEN_WARNING_MS,
  )
  const warnings = ending.map(({ id, name: given, expiresAt }): Fact => {
    const owner = displayName(given)
    const isOver = expiresAt <= now
    const fix = `plant-store-server ${isOver ? `token create --name ${owner}` : `token rotate ${id}`}`
    const warning = `it ${isOver ? 'ended' : 'ends'} ${new Date(expiresAt).toISOString()}`
    return { name: 'token', value: `${id} (${owner})`, warning, fix }
  })
  return [first, ...warnings]
}

function format({ name, value, warning, fix }: Fact): string {
  const line = printableLine(`${name.padEnd(8)} ${value}\n`)
  if (warning === undefined) return line
  return `${line}  ${printableLine(`warning: ${withFix(warning, { fix })}\n`)}`
}

function toJson(line: object): string {
  return printableLine(`${JSON.stringify(line)}\n`)
}

async function readFacts(config: Config): Promise<Fact[]> {
  const { facts, tokens } = await engineOf(config.databaseUrl).facts(config)
  const version = { name: 'version', value: `${build.version} on Node.js ${build.node}` }
  const about = tokens && describeTokens(tokens, Date.now(), takesJwt(config))
  return [version, ...facts, ...(about ?? [])]
}

async function check(config: Config, terminal: Terminal, asJson: boolean): Promise<void> {
  try {
    const facts = await unlessStopped(readFacts(config), terminal, 'Not everything was checked')
    for (const fact of facts) terminal.out(asJson ? toJson(fact) : format(fact))
    const warnings = facts.filter(({ warning }) => warning !== undefined).length
    terminal.err(`A server can open this store; ${describeCount(warnings, 'warning')}.\n`)
  } catch (error) {
    const isRefusal = error instanceof StoreRefusedError || error instanceof StoreUnavailableError
    if (asJson && isRefusal) {
      terminal.out(toJson({ name: 'store', refusal: error.message, fix: error.fix }))
    }
    throw error
  }
}

const SETTINGS: SettingName[] = [
  'databaseUrl',
  'allowDataLoss',
  'jwksUrl',
  'jwksFile',
  'jwtIssuer',
  'jwtAudience',
]

/** `doctor [--json]` */
export function addDoctorCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('doctor'), SETTINGS)
    .description('check whether a server can open the store, and what to know about it')
    .option('--json', 'print each line as a JSON object: name, value, warning and fix')
    .addHelpText(
      'after',
      '\nIt opens the store as a server does, and changes nothing in it. What keeps a server from it\n' +
        'is printed with what to do, and ends with 69; warnings end with 0. Run it as the user of the\n' +
        'server, with its settings.',
    )
    .action(({ json = false, ...flags }: Flags & { json?: boolean }) =>
      check(loadConfig(flags), terminal, json),
    )
}
