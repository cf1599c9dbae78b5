import { type HealthCheck, healthChecksOf } from '../../store/health-check.ts'

/** Files, listeners and connections to a database that a server has open besides those of callers. */
const OWN_DESCRIPTORS = 64

/** The soft limit of this process; undefined where there is none, or none is known. */
export function readDescriptorLimit(): number | undefined {
  // Otherwise it looks up the names of the peers of every connection. Its type lacks this.
  Object.assign(process.report, { excludeNetwork: true })
  // Unlike a file of /proc it can be read under Node's permission model, and on every system.
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } }
  }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : undefined
}

/** Whether this process may open as many files as a server with so many connections needs. */
export function examineDescriptors(
  connectionLimit: number,
  limit = readDescriptorLimit(),
): HealthCheck {
  const about = healthChecksOf('files')
  const needed = connectionLimit + OWN_DESCRIPTORS
  if (limit === undefined) return about.ok('no limit on open files is known')
  const detail = `this user may open ${limit}, and ${connectionLimit} connections need ${needed}`
  if (limit >= needed) return about.ok(detail)
  return about.warning(
    detail,
    `LimitNOFILE=${needed} in a systemd unit, or ulimit -n ${needed} where it is started`,
  )
}

/** When the fixes of a line of Node.js end (https://github.com/nodejs/Release). */
const ENDS = new Map([
  [24, Date.UTC(2028, 3, 30)],
  [26, Date.UTC(2029, 3, 30)],
])

/** Whether this Node.js still gets fixes. Its major version is even where it gets them for years. */
export function examineNode(now: number, version: string = process.versions.node): HealthCheck {
  const about = healthChecksOf('node')
  const major = Number.parseInt(version, 10)
  const end = ENDS.get(major)
  const fix = 'a newer Node.js with an even major version'
  if (major % 2 === 1) return about.warning(`${version} gets fixes for half a year only`, fix)
  if (end === undefined) return about.ok(`${version}; 24 or later is needed`)
  const day = new Date(end).toISOString().slice(0, 10)
  if (now > end) return about.warning(`${version} gets no fixes since ${day}`, fix)
  return about.ok(`${version}, which gets fixes until ${day}`)
}
