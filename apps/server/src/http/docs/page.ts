import { files } from '../../process/files.ts'
import { createPublicFiles } from './public-files.ts'

/** Where the build puts the files of the page. */
const FOLDER = new URL('page/', files.built)

/** The page that explains `POST /plants` and sends real requests. */
export const page = createPublicFiles(FOLDER, {
  '/docs': 'index.html',
  '/docs/icon.svg': 'icon.svg',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
})
