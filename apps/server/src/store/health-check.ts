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

/**
 * The messages of this program say what is wrong and then what to do: behind `Try:`, or in their last
 * sentence.
 */
function splitMessage(message: string): { readonly detail: string; readonly fix?: string } {
  const [, detail, fix = ''] =
    /^(.*?)\.? Try: (.*)$/s.exec(message) ?? /^(.*)\. ([A-Z].*?)\.?$/s.exec(message) ?? []
  if (detail === undefined) return { detail: message }
  return { detail, fix: /^[A-Z][a-z]/.test(fix) ? fix[0]?.toLowerCase() + fix.slice(1) : fix }
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
    /** A failure by an error: with `fix` if it is known, else with that of the message, else `otherwise`. */
    failedWith(error: unknown, fix: string | undefined, otherwise: string): HealthCheck {
      const parts = splitMessage(error instanceof Error ? error.message : String(error))
      const level = 'failure'
      return { level, subject, detail: parts.detail, fix: fix ?? parts.fix ?? otherwise }
    },
  }
}

/** The result of checking a store, which changes nothing in it. */
export interface Examination {
  readonly checks: readonly HealthCheck[]
  /** undefined where there is no store yet, or one that cannot be read. */
  readonly tokens: readonly TokenRecord[] | undefined
  /** Times that were recorded in it, in Unix ms. */
  readonly recordedTimes: readonly number[]
  /** The clock of the database's machine in Unix ms; undefined where that is this machine. */
  readonly databaseTime?: number | undefined
}
