import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { blockWith } from '../../docs/test/markdown.ts'
import { needs } from '../../packages/client/runtimes/needs.ts'
import { ARCHIVED } from '../archives/platforms.ts'
import {
  archiveOf,
  buildArchives,
  createFolder,
  digestOf,
  filesIn,
  HERE,
  IS_WINDOWS,
  launch,
  unpack,
} from './archive.ts'
import {
  CAN_CHANGE_ROOT,
  fillRoot,
  fillRootWithoutGlibc,
  hasBusybox,
  librariesOf,
} from './bare-root.ts'
import { runProgram } from './running-program.ts'

const FERN = '{"id":9223372036854775807,"name":"Fern","tag":"indoor"}'
const MOSS = '{"id":9223372036854775807,"name":"Moss"}'
const ALL = ARCHIVED.map(({ name }) => name)
const LAUNCHER = IS_WINDOWS ? 'plant-store-server.cmd' : 'plant-store-server'

const onLinux = needs('Linux', process.platform === 'linux')
const onUnix = needs('a system with links and signals', !IS_WINDOWS)
const inOwnRoot = needs('root on Linux', CAN_CHANGE_ROOT)

/** Folders of what was built elsewhere: the release, and one of a later version. Else both are built here. */
const { PLANT_STORE_TEST_RELEASE: built, PLANT_STORE_TEST_NEXT_RELEASE: builtNext } = process.env
const release = built ?? buildArchives(ALL.join())
const next = builtNext ?? buildArchives(HERE, '--as-version', '99.0.0')

const made: string[] = [built === undefined ? release : '', builtNext === undefined ? next : '']
afterAll(() => {
  for (const folder of made.filter(Boolean)) rmSync(folder, { recursive: true, force: true })
})

function place(): string {
  const folder = createFolder('place')
  made.push(folder)
  return folder
}

/** The archive of this machine, unpacked once, below a folder with a blank. */
let program = ''
beforeAll(() => {
  program = unpack(archiveOf(release, HERE), join(place(), 'my programs'))
})

/** What a program says that cannot start: its exit code, and its only line. */
async function refusal(command: string, args: string[], env: Record<string, string> = {}) {
  const { code, text } = await runProgram(command, args, { cwd: place(), env }).ended
  return { code, text }
}

describe('the archives', () => {
  test('are the same bytes when they are built again', onLinux, () => {
    const again = buildArchives(HERE)
    made.push(again)
    const archive = archiveOf(release, HERE)
    expect(digestOf(join(again, basename(archive)))).toBe(digestOf(archive))
  })

  test.each(ARCHIVED)(
    'for $name hold the programs, a Node.js for it and every licence',
    needs('unzip', IS_WINDOWS || existsSync('/usr/bin/unzip')),
    ({ name, format }) => {
      const folder = unpack(archiveOf(release, name), place())
      const files = filesIn(folder)
      const isZip = format === 'zip'
      const expected = filesIn(program).map((file) =>
        file
          .replace(/^(plant-store(?:-server)?)(?:\.cmd)?$/, isZip ? '$1.cmd' : '$1')
          .replace(/node\/node(?:\.exe)?$/, isZip ? 'node/node.exe' : 'node/node'),
      )
      expect(files).toEqual(expected.toSorted())
      for (const file of ['LICENSE', 'lib/node/LICENSE', 'lib/server/LICENSES.md']) {
        expect(files).toContain(file)
      }
      const binary = readFileSync(join(folder, `lib/node/node${isZip ? '.exe' : ''}`))
      expect(describeBinary(binary)).toBe(name)
    },
  )

  test.each(ALL)('for %s have a bill of materials with their Node.js', async (name) => {
    const text = readFileSync(`${archiveOf(release, name)}.cdx.json`, 'utf8')
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const { metadata, components } = JSON.parse(text)
    const content = digestOf(archiveOf(release, name))
    expect(metadata.component.hashes).toEqual([{ alg: 'SHA-256', content }])
    const purls = components.map(({ purl }: { purl: string }) => purl)
    expect(purls).toContainEqual(expect.stringMatching(/^pkg:generic\/node@2\d\./))
    expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/express@/))
    expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/env-paths@/))
  })

  test(
    'for Windows have lines that its shell reads',
    needs('unzip', IS_WINDOWS || existsSync('/usr/bin/unzip')),
    () => {
      const folder = unpack(archiveOf(release, 'win32-x64'), place())
      const text = readFileSync(join(folder, 'plant-store-server.cmd'), 'utf8')
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n{}]/)
      expect(text).toContain('"%~dp0lib\\node\\node.exe" "%~dp0lib\\server\\main.js" %*')
    },
  )
})

/** The platform of a program, from its first bytes: ELF, Mach-O or PE. */
function describeBinary(bytes: Buffer): string {
  if (bytes.readUInt32BE(0) === 0x7f_45_4c_46) {
    const machines: Record<number, string> = { 62: 'linux-x64', 183: 'linux-arm64' }
    return machines[bytes.readUInt16LE(18)] ?? 'another ELF'
  }
  if (bytes.readUInt32LE(0) === 0xfe_ed_fa_cf) {
    return bytes.readUInt32LE(4) === 0x01_00_00_0c ? 'darwin-arm64' : 'another Mach-O'
  }
  const header = bytes.readUInt32LE(0x3c)
  const isPe = bytes.readUInt16BE(header) === 0x50_45
  return isPe && bytes.readUInt16LE(header + 4) === 0x86_64 ? 'win32-x64' : 'unknown'
}

describe('the server of an archive', () => {
  test('keeps a plant through a kill and through the next version, unpacked over it and beside it', async () => {
    const data = place()
    const home = place()
    const installed = join(home, 'plant-store')
    renameSync(unpack(archiveOf(release, HERE), home), installed)
    const command = join(installed, LAUNCHER)

    const first = await launch(command, [], { cwd: data })
    expect(await first.store(FERN)).toEqual({ status: 200, isReplay: false })
    await first.kill()
    const second = await launch(command, [], { cwd: data }, first.token)
    expect(second.version).toBe(first.version)
    expect(await second.store(FERN)).toEqual({ status: 200, isReplay: true })
    await second.kill()

    const archive = archiveOf(next, HERE)
    execFileSync('tar', ['-xf', archive, '--strip-components=1', '-C', installed])
    const over = await launch(command, [], { cwd: data }, first.token)
    expect(over.version).not.toBe(first.version)
    expect(await over.store(FERN)).toEqual({ status: 200, isReplay: true })
    await over.kill()

    const beside = await launch(
      join(unpack(archive, home), LAUNCHER),
      [],
      { cwd: data },
      first.token,
    )
    expect(beside.version).toBe(over.version)
    expect(await beside.store(FERN)).toEqual({ status: 200, isReplay: true })
    expect(await beside.store(MOSS)).toEqual({ status: 400, isReplay: false })
    await beside.kill()

    rmSync(home, { recursive: true })
    expect(existsSync(join(data, 'data/plants.db'))).toBe(true)
  })

  test('is the process that was started: a signal ends it in order', onUnix, async () => {
    const server = await launch(join(program, LAUNCHER), [], { cwd: place() })
    server.signal('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, text: expect.stringContaining('stopped') })
  })

  test('starts through links, and names itself as a shell finds it', onUnix, async () => {
    const folder = join(place(), 'a bin')
    mkdirSync(folder)
    symlinkSync(join(program, LAUNCHER), join(folder, 'absolute'))
    symlinkSync('absolute', join(folder, 'plant-store-server'))
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    const { code, text } = await refusal('sh', ['-c', 'exec plant-store-server nonsense'], env)
    expect(code).toBe(78)
    expect(text).toMatch(/Try: plant-store-server --help$/m)
  })

  test('names itself as it was called', onUnix, async () => {
    const { text } = await runProgram(`./${basename(program)}/${LAUNCHER}`, ['nonsense'], {
      cwd: join(program, '..'),
    }).ended
    expect(text).toMatch(/Try: \.\/plant-store-[\d.]+-\S+\/plant-store-server --help$/m)
    const { text: quoted } = await refusal(join(program, LAUNCHER), ['nonsense'])
    expect(quoted).toMatch(/Try: '\/\S+\/my programs\/\S+\/plant-store-server' --help$/m)
  })

  test('says in one sentence that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const env = { PLANT_STORE_LISTEN: `127.0.0.1:${port}` }
    const { code, text } = await refusal(join(program, LAUNCHER), [], env)
    expect(code).not.toBe(0)
    expect(text).toMatch(new RegExp(`^plant-store-server: .*${port}.*$`, 'm'))
    expect(text).not.toMatch(/^ {4}at /m)
  })

  test('says in one sentence that its folder cannot be made', async () => {
    const cwd = place()
    writeFileSync(join(cwd, 'data'), '')
    const { code, text } = await runProgram(join(program, LAUNCHER), [], { cwd }).ended
    expect(code).not.toBe(0)
    expect(text).toMatch(/^plant-store-server: .*data/m)
    expect(text).not.toMatch(/^ {4}at /m)
  })

  test('comes with the command line of callers', async () => {
    const server = await launch(join(program, LAUNCHER), [], { cwd: place() })
    const env = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
    const callers = join(program, LAUNCHER.replace('-server', ''))
    const words = ['create', '9223372036854775807', 'Fern', '--tag', 'indoor']
    const { code, text } = await runProgram(callers, words, { cwd: place(), env }).ended
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(await server.store(FERN)).toEqual({ status: 200, isReplay: true })
  })
})

describe('docs/installing.md', () => {
  const block = (text: string) =>
    blockWith('docs/installing.md', text).text.trim().replaceAll('linux-x64', HERE)

  /** A new folder with what one downloads. */
  function download(from: string): string {
    const folder = place()
    for (const path of [archiveOf(from, HERE), join(from, 'SHA256SUMS')]) {
      cpSync(path, join(folder, basename(path)))
    }
    return folder
  }
  const paste = (text: string, cwd: string) => runProgram('sh', ['-ec', text], { cwd }).ended

  test('finds a download that was changed', onLinux, async () => {
    const folder = download(release)
    expect(await paste(block('sha256sum'), folder)).toMatchObject({ code: 0 })
    appendFileSync(archiveOf(folder, HERE), 'x')
    expect(await paste(block('sha256sum'), folder)).toMatchObject({ code: 1 })
  })

  test('starts a server', onLinux, async () => {
    const folder = download(release)
    const server = await launch('sh', ['-ec', block('tar -xzf').replace(/\n/, '\nexec ')], {
      cwd: folder,
    })
    expect(await server.store(FERN)).toEqual({ status: 200, isReplay: false })
  })

  test(
    'puts the programs on the PATH, and puts the next version in their place',
    onLinux,
    async () => {
      const machine = place()
      const bin = join(machine, 'bin')
      mkdirSync(bin)
      const install = block('sudo mkdir')
        .replaceAll('sudo ', '')
        .replaceAll('/opt', join(machine, 'opt'))
        .replaceAll('/usr/local/bin', bin)
      const options = { cwd: machine, env: { PATH: `${bin}:/usr/bin:/bin` } }
      const versions: string[] = []
      for (const one of [release, next]) {
        expect(await paste(install, download(one))).toEqual({ code: 0, text: '' })
        for (const name of ['plant-store-server', 'plant-store']) {
          const { text } = await runProgram('sh', ['-c', `${name} --version`], options).ended
          versions.push(text.trim())
        }
      }
      const [first, , last] = versions
      expect(versions).toEqual([first, first, last, last])
      expect(first).not.toBe(last)
    },
  )
})

describe('in a root with nothing but a shell and libraries', () => {
  function createRoot(fill: (root: string) => void) {
    const root = place()
    fill(root)
    unpack(archiveOf(release, HERE), join(root, 'opt'))
    mkdirSync(join(root, 'usr/bin'), { recursive: true })
    symlinkSync(`/opt/${basename(program)}/${LAUNCHER}`, join(root, 'usr/bin', LAUNCHER))
    // What the test process calls; the root has no other programs.
    const chroot = existsSync('/usr/sbin/chroot') ? '/usr/sbin/chroot' : '/sbin/chroot'
    return { root, chroot, args: [root, '/bin/sh', '-c', 'cd /tmp && exec plant-store-server'] }
  }
  const env = { PATH: '/usr/bin:/bin' }
  const node = () => join(program, 'lib/node/node')
  const withTmp = (fill: (root: string) => void) => (root: string) => {
    fill(root)
    mkdirSync(join(root, 'tmp'))
  }

  test('it starts, is killed, starts again, and has the plant', inOwnRoot, async () => {
    const { root, chroot, args } = createRoot(withTmp((folder) => fillRoot(folder, node())))
    expect(existsSync(join(root, 'usr/bin/node'))).toBe(false)
    const first = await launch(chroot, args, { cwd: root, env })
    expect(await first.store(FERN)).toEqual({ status: 200, isReplay: false })
    await first.kill()
    const second = await launch(chroot, args, { cwd: root, env }, first.token)
    expect(await second.store(FERN)).toEqual({ status: 200, isReplay: true })
    await second.kill()
  })

  test('it says in one sentence which library is missing', inOwnRoot, async () => {
    const { root, chroot, args } = createRoot(withTmp((folder) => fillRoot(folder, node())))
    const library = librariesOf(node()).find((path) => path.includes('libstdc++')) ?? ''
    rmSync(join(root, library))
    expect(await refusal(chroot, args, env)).toEqual({
      code: 78,
      text: expect.stringMatching(
        /^plant-store-server: this system lacks the library libstdc\+\+\.so\.6\. Try: [^\n]*\n$/,
      ),
    })
  })

  test(
    'it says in one sentence that there is no glibc',
    needs('root on Linux and busybox-static', CAN_CHANGE_ROOT && hasBusybox),
    async () => {
      const { chroot, args } = createRoot(withTmp(fillRootWithoutGlibc))
      expect(await refusal(chroot, args, env)).toEqual({
        code: 78,
        text: expect.stringMatching(/^plant-store-server: this program needs glibc, [^\n]*\n$/),
      })
    },
  )
})

describe('on a machine of another kind', () => {
  test.each([
    ['Linux riscv64', '@plant-store/server from npm, with Node.js 24 or newer'],
    ['FreeBSD amd64', '@plant-store/server from npm, with Node.js 24 or newer'],
    ['Linux aarch64', /plant-store-[\d.]+-linux-arm64\.tar\.gz/],
    ['Linux x86_64', /plant-store-[\d.]+-linux-x64\.tar\.gz/],
  ])('%s, the launcher says in one sentence what to try', onUnix, async (machine, advice) => {
    const folder = place()
    writeFileSync(join(folder, 'uname'), `#!/bin/sh\necho ${machine}\n`)
    chmodSync(join(folder, 'uname'), 0o755)
    // Of a machine that is none of those.
    const launcher = join(unpack(archiveOf(release, 'darwin-arm64'), place()), LAUNCHER)
    const { code, text } = await refusal(launcher, [], { PATH: `${folder}:/usr/bin:/bin` })
    expect(code).toBe(78)
    expect(text).toMatch(/^plant-store-server: this is the program for [^\n]*\n$/)
    expect(text).toMatch(advice)
  })
})
