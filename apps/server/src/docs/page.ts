import { createPublicFiles } from './public-files.ts'

/** Where the build puts the files of the page; the path is right from the sources and from the build. */
const FOLDER = new URL('../../dist/page/', import.meta.url)

/** The page that explains `POST /plants` and sends real requests. */
export const page = createPublicFiles(FOLDER, {
  '/docs': 'index.html',
  '/docs/icon.svg': 'icon.svg',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
})
