import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { after, before, describe, test } from 'node:test'
import { sql, Kysely } from 'kysely'
import { openPostgres } from '../../src/store/index.ts'
import { parsePostgresAddress } from '../../src/store/sql/postgres-address.ts'
import { selfSigned } from '../outbound/self-signed.ts'
import { startOwnPostgres, type OwnPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const base = 'postgresql://ann:secret@db/app'

test('options of an address that cannot be are refused, and the file of a certificate is named', () => {
  for (const [query, message] of [
    ['sslmode=required', /sslmode="required".*one of disable, allow/],
    ['sslmode=verify-ca', /sslmode="verify-ca".*requires sslrootcert/],
    ['sslmode=require&sslrootcert=system', /requires verify-full/],
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', /sslrootcert="\/nowhere\/ca.pem".*ENOENT/],
    ['schema=a&search_path=b', /schema="b"|schema="a"/],
  ] as const)
    assert.throws(() => parsePostgresAddress(`${base}?${query}`), { code: 'WP_STORE_URL_OPTION', message })
})

test('a schema becomes the search path, by each name, beside other options', () => {
  for (const name of ['schema', 'currentSchema', 'search_path']) {
    const { connectionString } = parsePostgresAddress(`${base}?${name}=my%20app&options=-ctimezone%3DUTC`)
    assert.equal(
      new URL(connectionString).searchParams.get('options'),
      String.raw`-ctimezone=UTC -csearch_path=my\ app`,
    )
  }
  assert.equal(parsePostgresAddress(base).connectionString, base)
})

test('sslmode=allow encrypts the connection only if PostgreSQL demands it', () => {
  const address = parsePostgresAddress(`${base}?sslmode=allow`)
  assert.equal(address.ssl(), false)
  assert.equal(address.isWorthRetry(Object.assign(new Error('wrong password'), { code: '28P01' })), false)
  assert.equal(address.isWorthRetry(Object.assign(new Error('no pg_hba.conf entry'), { code: '28000' })), true)
  assert.partialDeepStrictEqual(address.ssl(), { rejectUnauthorized: false })
})

describe('PostgreSQL with a certificate of its own', () => {
  let postgres: OwnPostgres
  let folder: string
  let url: URL
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-tls-'))
    await writeFile(path.join(folder, 'own.pem'), selfSigned.cert)
    await writeFile(path.join(folder, 'other.pem'), rootCertificates[0]!)
    postgres = await startOwnPostgres({ durable: false })
    url = new URL(await postgres.createSystem())
    await admin(async (db) => {
      // PostgreSQL writes the files itself, because the key must belong to its user.
      for (const [name, text] of Object.entries({ crt: selfSigned.cert, key: selfSigned.key })) {
        const { rows } = await sql<{ folder: string }>`select current_setting('data_directory') as folder`.execute(db)
        const lines = text.split('\n').map((line) => `('${line}')`)
        await sql.raw(`copy (values ${lines.join(', ')}) to '${rows[0]!.folder}/server.${name}'`).execute(db)
        await chmod(`${rows[0]!.folder}/server.${name}`, 0o600)
      }
    })
    await setTls('on')
  })
  after(async () => {
    await postgres.stop()
    await rm(folder, { recursive: true })
  })

  async function admin(work: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
    const database = openPostgres({ url: url.href })
    await work(new Kysely({ dialect: database.dialect() })).finally(() => database.close())
  }

  async function setTls(state: 'on' | 'off'): Promise<void> {
    await admin(async (db) => {
      await sql.raw(`alter system set ssl = ${state}`).execute(db)
      await sql`select pg_reload_conf()`.execute(db)
    })
    await until(`ssl is ${state}`, async () => {
      let isDone = false
      await admin(async (db) => {
        const { rows } = await sql<{ ssl: string }>`show ssl`.execute(db)
        isDone = rows[0]!.ssl === state
      })
      return isDone
    })
  }

  /** @returns whether the connections of the pool and of a client outside it are encrypted, or the code of the error */
  async function connect(query: string, host = '127.0.0.1'): Promise<unknown> {
    const address = new URL(url)
    address.hostname = host
    const database = openPostgres({ url: `${address.href}?${query.replace('FOLDER', folder)}` })
    const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
    try {
      const { rows } = await sql.raw<{ ssl: boolean }>(text).execute(new Kysely({ dialect: database.dialect() }))
      const client = await database.openClient()
      const direct = await client.query<{ ssl: boolean }>(text).finally(() => client.end())
      assert.deepEqual(direct.rows, rows)
      return rows[0]!.ssl
    } catch (error) {
      return (error as { code: string }).code
    } finally {
      await database.close()
    }
  }

  test('each sslmode verifies what it does in libpq', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on('warning', warn)
    for (const [query, expected, host] of [
      ['sslmode=disable', false],
      ['sslmode=allow', false],
      ['sslmode=prefer', true],
      ['sslmode=require', true],
      ['sslmode=no-verify', true],
      ['sslmode=require&sslrootcert=FOLDER/own.pem', true],
      ['sslmode=require&sslrootcert=FOLDER/own.pem', true, 'localhost'],
      ['sslmode=require&sslrootcert=FOLDER/other.pem', 'WP_STORE_CERTIFICATE'],
      ['sslmode=verify-ca&sslrootcert=FOLDER/own.pem', true, 'localhost'],
      ['sslmode=verify-ca&sslrootcert=FOLDER/other.pem', 'WP_STORE_CERTIFICATE'],
      ['sslmode=verify-full&sslrootcert=FOLDER/own.pem', true],
      ['sslmode=verify-full&sslrootcert=FOLDER/own.pem', 'WP_STORE_CERTIFICATE', 'localhost'],
      ['sslmode=verify-full', 'WP_STORE_CERTIFICATE'],
    ] as const)
      assert.equal(await connect(query, host), expected, `${query} ${host ?? ''}`)
    process.off('warning', warn)
    assert.deepEqual(warnings, [], 'the driver warns of nothing')
  })

  test('without TLS, prefer and allow connect, and the others say what is missing', async () => {
    await setTls('off')
    for (const mode of ['disable', 'allow', 'prefer']) assert.equal(await connect(`sslmode=${mode}`), false, mode)
    for (const mode of ['require', 'no-verify', 'verify-full'])
      assert.equal(await connect(`sslmode=${mode}`), 'WP_STORE_NO_TLS', mode)
  })

  test('a search path in the address is that of each connection', async () => {
    const database = openPostgres({ url: `${url.href}?currentSchema=${encodeURIComponent('"My App", public')}` })
    const { rows } = await sql<{ found: string }>`select current_setting('search_path') as found`.execute(
      new Kysely({ dialect: database.dialect() }),
    )
    assert.equal(rows[0]!.found, '"My App", public')
    await database.close()
  })
})
