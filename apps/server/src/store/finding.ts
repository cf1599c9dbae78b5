import type { TokenRecord } from './store.ts'

/** What was found when a promise of the store was checked on this machine. */
export type Finding =
  | { readonly level: 'ok'; readonly subject: string; readonly detail: string }
  | {
      readonly level: 'warning' | 'failure'
      readonly subject: string
      readonly detail: string
      /** What to do about it. */
      readonly mend: string
    }

/** Makes findings about one subject. */
export function findingsAbout(subject: string) {
  return {
    ok: (detail: string): Finding => ({ level: 'ok', subject, detail }),
    warning: (detail: string, mend: string): Finding => ({
      level: 'warning',
      subject,
      detail,
      mend,
    }),
    failure: (detail: string, mend: string): Finding => ({
      level: 'failure',
      subject,
      detail,
      mend,
    }),
  }
}

/** What a look at a store tells, without changing it. */
export interface Examination {
  readonly findings: readonly Finding[]
  /** undefined where there is no store yet, or one that cannot be read. */
  readonly tokens: readonly TokenRecord[] | undefined
  /** Times that were recorded in it, in Unix ms. */
  readonly recordedTimes: readonly number[]
}
