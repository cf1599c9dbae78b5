import type { ClientBase } from 'pg'

interface State {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const STATE = `SELECT pg_catalog.pg_is_in_recovery() AS "isStandby",
    pg_catalog.current_setting('transaction_read_only') = 'on' AS "isReadOnly"`

/** What a server must not be, by the value of libpq's target_session_attrs. */
const OBJECTIONS: Readonly<Record<string, (state: State) => string | false>> = {
  'read-write': ({ isStandby, isReadOnly }) =>
    (isStandby && 'it is a standby') || (isReadOnly && 'it is read-only'),
  'read-only': ({ isReadOnly }) => !isReadOnly && 'it is not read-only',
  primary: ({ isStandby }) => isStandby && 'it is a standby',
  standby: ({ isStandby }) => !isStandby && 'it is a primary',
}

/** Whether every server will do: `prefer-standby` takes any where there is no standby. */
export function takesAny(target: string): boolean {
  return OBJECTIONS[target] === undefined
}

/** @throws Error where the server is not what target_session_attrs asks for */
export async function refuseOtherState(client: ClientBase, target: string): Promise<void> {
  const objectionTo = OBJECTIONS[target]
  if (objectionTo === undefined) return
  const { rows } = await client.query<State>(STATE)
  const objection = rows[0] === undefined ? 'it does not say what it is' : objectionTo(rows[0])
  if (objection) throw new Error(objection)
}
