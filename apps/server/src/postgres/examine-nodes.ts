import type { Pool } from 'pg'
import { type HealthCheck, healthChecksOf } from '../store/health-check.ts'
import { findNodes, type NodeFault } from './nodes.ts'

const about = healthChecksOf('nodes')

function describe({ node, lossy, obstacle }: NodeFault): HealthCheck[] {
  const checks = lossy.map((name) =>
    about.failure(
      `${name} = off on ${node}: 200 would not mean durable`,
      `on ${node}: ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`,
    ),
  )
  if (obstacle === undefined) return checks
  return [
    ...checks,
    about.failure(
      `${obstacle}; plants of its part are not stored`,
      `start ${node}, or let its standby take over`,
    ),
  ]
}

/** What "200 means durable" rests on at each node of a distributed database; nothing for one server. */
export async function examineNodes(pool: Pool): Promise<HealthCheck[]> {
  const { names, faults } = await findNodes(pool)
  if (names.length === 0) return []
  if (faults.length > 0) return faults.flatMap(describe)
  return [about.ok(`${names.join(', ')}: fsync, full_page_writes and synchronous_commit are on`)]
}
