/** The code of an error of Node's permission model. */
export const FORBIDDEN = 'ERR_ACCESS_DENIED'

/** The code of an error of Node or of the operating system, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code
}
