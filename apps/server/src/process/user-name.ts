import { userInfo } from 'node:os'

/** The user that this process runs as: a container may run as a number that has no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
