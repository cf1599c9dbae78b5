import type { UsedPackage } from '../program/packages.ts'
import { type Manifest, readInstalled } from './manifest.ts'

/** What npm installs with a package: its dependencies, and theirs. */
export function listInstalled(
  folder: string,
  { dependencies = {} }: Manifest,
): Pick<UsedPackage, 'name' | 'version' | 'licence'>[] {
  const found = new Map<string, Pick<UsedPackage, 'name' | 'version' | 'licence'>>()
  const add = (names: readonly string[], base: string) => {
    for (const name of names) {
      const installed = readInstalled(name, base)
      const { version, license: licence = '' } = installed
      if (found.has(`${name}@${version}`)) continue
      found.set(`${name}@${version}`, { name, version, licence })
      add(Object.keys(installed.dependencies ?? {}), installed.folder)
    }
  }
  add(Object.keys(dependencies), folder)
  return [...found.values()]
}
