import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migratePostgresDatabase } from '../../src/postgres/migrate.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addCertificate, createCertificate } from './certificate.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { openStoreAt } from './use-postgres.ts'

let postgres: PostgresServer
let plain: PostgresServer
let databaseUrl: string
let certificate: string

beforeAll(async () => {
  postgres = await startPostgres(['ssl=on'], { prepare: addCertificate })
  certificate = readFileSync(join(postgres.folder, 'server.crt'), 'utf8')
  databaseUrl = await postgres.createDatabase()
  await migratePostgresDatabase(databaseUrl, false)
  plain = await startPostgres()
}, 60_000)
afterAll(async () => {
  await postgres?.stop()
  await plain?.stop()
})

async function isEncrypted(url: string): Promise<boolean> {
  await openStoreAt(url)
  const text = `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name = 'plant-store' AND datname = current_database()`
  const rows = await postgres.query(databaseUrl, text)
  return rows.length > 0 && rows.every(({ ssl }) => ssl === true)
}

function writeCertificate(text: string): string {
  const path = join(temporaryFolder(), 'authority.crt')
  writeFileSync(path, text)
  return path
}

describe('a PostgreSQL with TLS and a certificate that nobody vouches for', () => {
  test('is encrypted with sslmode=require, whoever signed its certificate', async () => {
    expect(await isEncrypted(`${databaseUrl}?sslmode=require`)).toBe(true)
  })

  test('is in plain text with sslmode=disable', async () => {
    expect(await isEncrypted(`${databaseUrl}?sslmode=disable`)).toBe(false)
  })

  test('is not trusted with sslmode=verify-full', async () => {
    await expect(isEncrypted(`${databaseUrl}?sslmode=verify-full`)).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      message: expect.stringMatching(/certificate/),
    })
  })

  test.each(['verify-ca', 'verify-full'])(
    'is trusted with sslmode=%s and its root',
    async (mode) => {
      const root = writeCertificate(certificate)
      expect(await isEncrypted(`${databaseUrl}?sslmode=${mode}&sslrootcert=${root}`)).toBe(true)
    },
  )

  test.each(['require', 'verify-ca', 'verify-full'])(
    'is not trusted with sslmode=%s and the root of another',
    async (mode) => {
      const root = writeCertificate(createCertificate().certificate)
      await expect(
        isEncrypted(`${databaseUrl}?sslmode=${mode}&sslrootcert=${root}`),
      ).rejects.toMatchObject({ name: 'StoreUnavailableError' })
    },
  )

  test('is not trusted with sslrootcert=system, which is for verify-full alone', async () => {
    const url = `${databaseUrl}?sslrootcert=system&sslmode=`
    await expect(isEncrypted(`${url}verify-full`)).rejects.toMatchObject({
      message: expect.stringMatching(/certificate|no authorities/),
    })
    await expect(isEncrypted(`${url}require`)).rejects.toThrow(/needs sslmode=verify-full/)
  })

  test('is not trusted under a name that its certificate does not have', async () => {
    const root = writeCertificate(certificate)
    const named = databaseUrl.replace('127.0.0.1', 'localhost')
    await expect(
      isEncrypted(`${named}?sslmode=verify-full&sslrootcert=${root}`),
    ).rejects.toMatchObject({ name: 'StoreUnavailableError' })
    expect(await isEncrypted(`${named}?sslmode=verify-ca&sslrootcert=${root}`)).toBe(true)
  })
})

test('a PostgreSQL without TLS is not spoken to in plain text where TLS is required', async () => {
  await expect(isEncrypted(`${plain.urlOf('postgres')}?sslmode=require`)).rejects.toMatchObject({
    name: 'StoreUnavailableError',
    message: expect.stringMatching(/does not support SSL/),
  })
})
