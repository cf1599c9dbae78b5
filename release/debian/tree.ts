import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Release } from '../parts.ts'
import { buildProgram } from '../program/build-program.ts'
import type { UsedPackage } from '../program/packages.ts'
import { ROOT } from '../root.ts'
import { describeChange, describeCopyright, type Origin, PACKAGE } from './control.ts'
import { PACKAGED, packageBackupUnit, packageUnit, readService } from './unit.ts'

const FILES = join(import.meta.dirname, 'files')
const COMMAND = 'plant-store-server'

function readUnit(name: string): string {
  return readFileSync(join(ROOT, 'operations', name), 'utf8')
}

/** The command for operators: what runs before the program, as one file that Node starts. */
async function writeCommand(root: string): Promise<void> {
  const file = join(root, PACKAGED, COMMAND)
  await build({
    entryPoints: [join(import.meta.dirname, 'program/plant-store-server.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    banner: { js: `#!${PACKAGED}/bin/node` },
    define: { SERVICE: JSON.stringify(readService(readUnit('plant-store.service'))) },
  })
  chmodSync(file, 0o755)
  mkdirSync(join(root, 'usr/bin'), { recursive: true })
  symlinkSync(join('../lib/plant-store', COMMAND), join(root, 'usr/bin', COMMAND))
}

function describeFiles(root: string, release: Release, node: string, origin: Origin) {
  const own = (name: string) => readFileSync(join(FILES, name))
  const documents = `usr/share/doc/${PACKAGE}`
  return {
    'etc/plant-store/environment': own('environment'),
    'usr/lib/systemd/system/plant-store.service': packageUnit(readUnit('plant-store.service')),
    'usr/lib/systemd/system/plant-store-backup.service': packageBackupUnit(
      readUnit('plant-store-backup.service'),
    ),
    'usr/lib/systemd/system/plant-store-backup.timer': readUnit('plant-store-backup.timer'),
    'usr/lib/sysusers.d/plant-store.conf': own('sysusers.conf'),
    [`usr/share/man/man8/${COMMAND}.8.gz`]: gzipSync(own(`${COMMAND}.8`), { level: 9 }),
    [`${documents}/changelog.gz`]: gzipSync(describeChange(release, origin), { level: 9 }),
    [`${documents}/copyright`]: describeCopyright(origin.homepage),
    [`${documents}/LICENSES.md`]: readFileSync(join(root, PACKAGED, 'LICENSES.md')),
    [`${documents}/LICENSE.node`]: readFileSync(join(node, 'LICENSE')),
    [`usr/share/lintian/overrides/${PACKAGE}`]: own('lintian-overrides'),
  }
}

/**
 * Writes every file of the package below the folder `root`, which is new.
 *
 * @param node - the folder of Node.js
 * @returns the packages of others whose code is in it
 */
export async function writeTree(
  root: string,
  release: Release,
  node: string,
  origin: Origin,
): Promise<readonly UsedPackage[]> {
  const program = join(root, PACKAGED)
  const packages = await buildProgram('server', program, release.version)
  // The command below starts it, with a Node.js that is here.
  chmodSync(join(program, 'main.js'), 0o644)
  await writeCommand(root)
  mkdirSync(join(program, 'bin'))
  cpSync(join(node, 'bin/node'), join(program, 'bin/node'))
  for (const [path, content] of Object.entries(describeFiles(root, release, node, origin))) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  // They are among the package's documents.
  for (const name of ['LICENSE', 'LICENSES.md']) rmSync(join(program, name))
  return packages
}
