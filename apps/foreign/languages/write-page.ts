import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientsPage } from './page.ts'

writeFileSync(join(import.meta.dirname, '../../../docs/clients.md'), clientsPage())
