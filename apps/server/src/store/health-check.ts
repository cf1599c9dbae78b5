import type { TokenRecord } from './store.ts'

/** The result of checking one promise of the store on this machine. */
export type HealthCheck =
  | { readonly level: 'ok'; readonly subject: string; readonly detail: string }
  | {
      readonly level: 'warning' | 'failure'
      readonly subject: string
      readonly detail: string
      /** What to do about it. */
      readonly fix: string
    }

/** Makes checks about one subject. */
export function healthChecksOf(subject: string) {
  return {
    ok: (detail: string): HealthCheck => ({ level: 'ok', subject, detail }),
    warning: (detail: string, fix: string): HealthCheck => ({
      level: 'warning',
      subject,
      detail,
      fix,
    }),
    failure: (detail: string, fix: string): HealthCheck => ({
      level: 'failure',
      subject,
      detail,
      fix,
    }),
  }
}

/** The result of checking a store, which changes nothing in it. */
export interface Examination {
  readonly checks: readonly HealthCheck[]
  /** undefined where there is no store yet, or one that cannot be read. */
  readonly tokens: readonly TokenRecord[] | undefined
  /** Times that were recorded in it, in Unix ms. */
  readonly recordedTimes: readonly number[]
}
