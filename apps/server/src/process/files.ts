/**
 * Where files of this program are. The paths are right from the sources and from the build; the
 * bundle of a release has all in one folder, and a module of its own in place of this one.
 */
export const files = {
  /** The package.json, with the version. */
  manifest: new URL('../../package.json', import.meta.url),
  /** The folder of the pages' folders. */
  built: new URL('../../dist/', import.meta.url),
} as const
