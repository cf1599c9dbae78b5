import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './root.ts'

/**
 * Where this repository is published: `repository` in the package.json of the root, which is the
 * only place that says so.
 *
 * @param building - the repository whose workflow runs, as `owner/name`
 * @throws an Error where that is another, because npm's provenance would refuse the packages
 */
export function readForge(building = process.env.GITHUB_REPOSITORY): string {
  const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  if (building !== undefined && !repository.endsWith(`/${building}`)) {
    throw new Error(
      `package.json says that the repository is ${repository}, but this is a build of ${building}. ` +
        'Correct `repository` in package.json: npm compares them',
    )
  }
  return repository
}
