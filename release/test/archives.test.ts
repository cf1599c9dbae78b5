import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInShell } from '../../docs/test/fresh-copy.ts'
import { blockWith } from '../../docs/test/markdown.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { PLATFORMS } from '../archives.ts'
import { buildRelease, fileIn, HERE, startReleased } from './released.ts'

const FERN = '{"id":9223372036854775807,"name":"Fern","tag":"indoor"}'

const here = temporaryFolder(afterAll)
const release = join(here, 'release')
const next = join(here, 'next')
/** The archive of this machine, unpacked once, below a folder with a blank. */
let program = ''

beforeAll(() => {
  buildRelease(release, '--only', 'archives')
  buildRelease(next, '--only', 'archives', '--platforms', HERE, '--as-version', '99.0.0')
  program = unpack(archiveOf(HERE), join(here, 'my programs'))
})

const archiveOf = (platform: string, folder = release) => fileIn(folder, `*-${platform}.tar.gz`)
const place = () => mkdtempSync(join(here, 'place-'))

/** Unpacks an archive; gives the folder that it makes in `folder`. */
function unpack(archive: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  return join(folder, basename(archive, '.tar.gz'))
}

/** The platform of a program, from its first bytes: ELF or Mach-O. */
function describeBinary(bytes: Buffer): string {
  const machines: Record<string, string> = {
    '7f454c46 62': 'linux-x64',
    '7f454c46 183': 'linux-arm64',
    'cffaedfe 0': 'darwin-arm64',
  }
  return machines[`${bytes.toString('hex', 0, 4)} ${bytes.readUInt16LE(18)}`] ?? 'unknown'
}

test.each(PLATFORMS)(
  'the archive for $name holds the programs, a Node.js for it and every licence',
  ({ name }) => {
    const folder = unpack(archiveOf(name), place())
    const files = globSync('**', { cwd: folder })
    const licences = [
      'LICENSE',
      'lib/node/LICENSE',
      'lib/server/LICENSES.md',
      'lib/cli/LICENSES.md',
    ]
    expect(files).toEqual(
      expect.arrayContaining([
        ...licences,
        'plant-store',
        'plant-store-server',
        'lib/server/main.js',
      ]),
    )
    expect(files.includes('systemd/plant-store.service')).toBe(name.startsWith('linux'))
    expect(describeBinary(readFileSync(join(folder, 'lib/node/node')))).toBe(name)
  },
)

describe('a launcher', () => {
  test('starts through links the process that a signal ends in order', async () => {
    const bin = join(place(), 'a bin')
    mkdirSync(bin)
    symlinkSync(join(program, 'plant-store-server'), join(bin, 'absolute'))
    symlinkSync('absolute', join(bin, 'plant-store-server'))
    const path = { PATH: `${bin}:/usr/bin:/bin` }
    const server = await startReleased(place(), 'exec plant-store-server', path)
    process.kill(server.pid, 'SIGTERM')
    expect(await server.ended).toContain('stopped')
  })

  test('starts the command line of callers', async () => {
    const folder = place()
    const server = await startReleased(folder, `exec '${program}/plant-store-server'`)
    const line = `'${program}/plant-store' create 9223372036854775807 Fern --tag indoor`
    const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
    expect(await runInShell(folder, line, env).ended).toContain('9223372036854775807 "Fern"')
    expect(await server.store(FERN)).toEqual({ status: 200, isReplay: true })
  })

  test('says in one sentence that this is a machine of another kind', async () => {
    const folder = unpack(archiveOf(HERE), place())
    writeFileSync(join(folder, 'lib/node/node'), 'of another kind')
    const { ended } = runInShell(folder, './plant-store-server; echo "code $?"')
    expect(await ended).toMatch(
      /^plant-store-server: the Node\.js for \S+ does not start .* Try: the package for npm\ncode 78\n$/,
    )
  })
})

describe.skipIf(process.platform !== 'linux')('docs/installing.md', () => {
  const block = (text: string) =>
    blockWith('docs/installing.md', text).text.trim().replaceAll('linux-x64', HERE)

  /** A new folder with what one downloads. */
  function download(from: string): string {
    const folder = place()
    for (const path of [archiveOf(HERE, from), join(from, 'SHA256SUMS')]) {
      cpSync(path, join(folder, basename(path)))
    }
    return folder
  }
  const paste = (text: string, folder: string) =>
    runInShell(folder, `set -e\n${text}\necho all of it ran`).ended

  test('finds a download that was changed', async () => {
    const folder = download(release)
    expect(await paste(block('sha256sum'), folder)).toContain('all of it ran')
    appendFileSync(archiveOf(HERE, folder), 'x')
    expect(await paste(block('sha256sum'), folder)).toMatch(/: FAILED$/m)
  })

  test('starts a server', async () => {
    const server = await startReleased(download(release), block('tar -xzf'))
    expect(await server.store(FERN)).toEqual({ status: 200, isReplay: false })
  })

  test('puts the programs on the PATH, and the next version in their place, over the same plants', async () => {
    const machine = place()
    const bin = join(machine, 'bin')
    mkdirSync(bin)
    const install = block('sudo mkdir')
      .replaceAll('sudo ', '')
      .replaceAll('/opt', join(machine, 'opt'))
      .replaceAll('/usr/local/bin', bin)
    const path = { PATH: `${bin}:/usr/bin:/bin` }
    const start = (token?: string) => startReleased(machine, 'exec plant-store-server', path, token)

    expect(await paste(install, download(release))).toBe('all of it ran\n')
    const first = await start()
    expect(await first.store(FERN)).toEqual({ status: 200, isReplay: false })
    await first.kill()
    expect(await paste(install, download(next))).toBe('all of it ran\n')
    const second = await start(first.token)
    expect([first.version === '99.0.0', second.version]).toEqual([false, '99.0.0'])
    expect(await second.store(FERN)).toEqual({ status: 200, isReplay: true })
    expect(await runInShell(machine, 'plant-store --version', path).ended).toBe('99.0.0\n')
  })
})
