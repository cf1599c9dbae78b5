import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `client.json` of a folder says of the client that is made there. */
export interface Facts {
  /** The language, and the heading of its section, which is unique. */
  readonly title: string
  /** The generator, as the table names it. */
  readonly madeWith: string
  /** What the machine must have: a program on the PATH, or a command line that ends with 0. */
  readonly needs: readonly string[]
  /** How the program reads the number of an error. */
  readonly refusal: 'typed' | 'as text'
  /** One sentence for the table; may be empty. */
  readonly remark: string
}

export interface Client extends Facts {
  /** The folder's name. */
  readonly name: string
  readonly folder: string
  /** Whether OpenAPI Generator makes it, as `setup.sh` installs it. */
  readonly usesSetup: boolean
}

function readClient(name: string): Client {
  const folder = join(import.meta.dirname, name)
  const facts: Facts = JSON.parse(readFileSync(join(folder, 'client.json'), 'utf8'))
  const make = readFileSync(join(folder, 'make.sh'), 'utf8')
  return { ...facts, name, folder, usesSetup: make.includes('openapi-generator-cli') }
}

/** All clients, in the order of their titles. */
export const clients: readonly Client[] = readdirSync(import.meta.dirname)
  .filter((name) => existsSync(join(import.meta.dirname, name, 'client.json')))
  .map(readClient)
  .sort((a, b) => a.title.localeCompare(b.title, 'en'))

/** What a client needs and this machine does not have. */
export function missingOf({ needs }: Facts): string[] {
  return needs.filter((need) => {
    const line = need.includes(' ') ? need : `command -v ${need}`
    return spawnSync('bash', ['-c', line], { stdio: 'ignore' }).status !== 0
  })
}
