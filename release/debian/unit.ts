/** What a unit gives to the program that it starts, beside the sandbox. */
export interface Service {
  readonly user: string
  readonly workingDirectory: string
  /** The mask of new files, such as 0o077. */
  readonly umask: number
  readonly environment: Readonly<Record<string, string>>
  /** A file of settings, in systemd's form. It wins over `environment`, and may be missing. */
  readonly environmentFile: string
}

/** Where the package has its files. */
export const PACKAGED = '/usr/lib/plant-store'

function readValue(unit: string, name: string): string {
  const [, value] = new RegExp(`^${name}=(.*)$`, 'm').exec(unit) ?? []
  if (value === undefined) throw new Error(`the unit has no ${name}`)
  return value
}

/** @throws if the unit lacks one of them. */
export function readService(unit: string): Service {
  const pairs = unit.matchAll(/^Environment=(\w+)=(.*)$/gm)
  return {
    user: readValue(unit, 'User'),
    workingDirectory: readValue(unit, 'WorkingDirectory'),
    umask: Number.parseInt(readValue(unit, 'UMask'), 8),
    environment: Object.fromEntries(
      Array.from(pairs, ([, name = '', value = '']) => [name, value]),
    ),
    environmentFile: readValue(unit, 'EnvironmentFile').replace(/^-/, ''),
  }
}

/** A unit for the files of the package. */
function place(unit: string): string {
  return unit
    .replace('/usr/bin/node', `${PACKAGED}/bin/node`)
    .replace('/opt/plant-store/dist/main.js', '/usr/bin/plant-store-server')
    .replaceAll('/opt/plant-store', PACKAGED)
}

/** @throws if there is nothing to replace, because the unit has changed. */
function replace(unit: string, old: string | RegExp, by: string): string {
  const replaced = unit.replace(old, by)
  if (replaced === unit) throw new Error(`the unit does not have ${old}`)
  return replaced
}

/**
 * operations/plant-store.service for the files of the package, and for its Node.js, which asks for
 * `--allow-net` and calls it an experiment. Files of secrets may be beside the settings.
 */
export function packageUnit(unit: string): string {
  const own = replace(place(unit), '# Node 25 and later also need --allow-net.\n', '')
  const flags =
    '--allow-net --disable-warning=ExperimentalWarning --allow-fs-read=/etc/plant-store/'
  return replace(own, '--permission', `--permission ${flags}`)
}

/**
 * operations/plant-store-backup.service for the package. Node 26 forbids `fsync` under its permission
 * model, so the unit's own protection is all that it has.
 */
export function packageBackupUnit(unit: string): string {
  return replace(place(unit), / --permission(?: |\\\n|--allow-\S+)+/, ' ')
}
