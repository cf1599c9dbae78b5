import type { Derived } from './reply.ts'

/**
 * The metrics of which the last hour is shown, and what is made of them. What no part measures, such
 * as the pool of the other engine, is left out.
 */
export const PLOTTED: Readonly<Record<string, readonly Derived[]>> = {
  plant_store_ready: ['value'],
  plant_store_creates_total: ['rate'],
  plant_store_request_duration_seconds: ['p50', 'p90', 'p99'],
  plant_store_limiter_actions_total: ['rate'],
  plant_store_connections: ['value'],
  plant_store_commit_duration_seconds: ['p50', 'p90', 'p99'],
  plant_store_commit_plants: ['mean', 'p99'],
  plant_store_waiting_plants: ['value'],
  plant_store_sqlite_database_bytes: ['value'],
  plant_store_sqlite_disk_free_bytes: ['value'],
  plant_store_sqlite_log_bytes: ['value'],
  plant_store_postgres_pool_connections: ['value'],
  plant_store_postgres_pool_idle_connections: ['value'],
  plant_store_postgres_pool_waiting: ['value'],
  process_cpu_seconds_total: ['rate'],
  process_resident_memory_bytes: ['value'],
  nodejs_heap_size_used_bytes: ['value'],
}

/** Each of these, when it is read, also reads one that is shown. */
export const READ_FIRST = ['nodejs_heap_size_total_bytes', 'process_cpu_user_seconds_total']

/** The metrics of which only the value of now is shown; several are there on some servers only. */
export const FACTS = [
  'process_start_time_seconds',
  'plant_store_sqlite_database_bytes',
  'plant_store_postgres_pool_connections_limit',
  'plant_store_next_token_end_timestamp_seconds',
  'plant_store_last_backup_timestamp_seconds',
  'plant_store_unknown_outcomes_total',
] as const
