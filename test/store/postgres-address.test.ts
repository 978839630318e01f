import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createServer, rootCertificates } from 'node:tls'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { sql, Kysely } from 'kysely'
import { Client } from 'pg'
import { messageOf } from '../../src/kit/index.ts'
import { openPostgres, redactUrl } from '../../src/store/index.ts'
import { parsePostgresAddress, withSearchPathOf } from '../../src/store/sql/postgres-address.ts'
import { makeClientClass, setUpClient } from '../../src/store/sql/postgres-connect.ts'
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
    ['ssl=0&sslmode=verify-full', /ssl="0".*sslmode is "verify-full"/],
    ['ssl=true&sslmode=disable', /ssl="true".*sslmode is "disable"/],
    ['ssl=maybe', /ssl="maybe".*sslmode/],
    ['sslmod=verify-full', /sslmod="…".*did you mean "sslmode"/],
    ['pasword=s3cret', /pasword="…".*did you mean "password"/],
    ['sslmode=verify-full&sslmode=disable', /sslmode="…".*repeated/],
    ['sslnegotiation=direct', /sslnegotiation="direct".*requires sslmode/],
    ['channel_binding=require&sslmode=prefer', /channel_binding="require".*requires sslmode/],
    ['client_encoding=latin1', /UTF-8/],
    ['replication=database', /Waypost does not know it/],
    ['binary=true', /Waypost does not know it/],
    ['gssencmode=require', /gssencmode="require"/],
    ['port=x', /port="x"/],
    ['target_session_attrs=read-write', /target_session_attrs="read-write".*one server.*primary/],
    ['host=a,b', /host="a,b".*one server/],
    ['pgbouncers=true&connection_limits=1', /pgbouncers="…".*Waypost does not know it/],
  ] as const)
    assert.throws(() => parsePostgresAddress(`${base}?${query}`), { code: 'WP_STORE_URL_OPTION', message })
  assert.throws(() => parsePostgresAddress('postgresql://ann:secret@a:1,b:2/app?sslmode=disable'), {
    code: 'WP_STORE_URL_OPTION',
    message: /host="a:1,b:2".*one server/,
  })
})

test('what pg uses is only what the address was read as', () => {
  const verified = { rejectUnauthorized: undefined, checkServerIdentity: 'function' }
  const unverified = { rejectUnauthorized: false, checkServerIdentity: 'undefined' }
  for (const [query, expected, negotiation = 'postgres'] of [
    ['', false],
    ['sslmode=verify-full', verified],
    ['ssl=true', verified],
    ['ssl=1&sslmode=verify-full', verified],
    ['ssl=true&sslmode=require', verified],
    ['ssl=1&sslmode=prefer', verified],
    ['ssl=true&sslmode=allow', verified],
    ['ssl=true&sslmode=no-verify', verified],
    ['ssl=true&sslmode=verify-ca', verified],
    ['ssl=no-verify&sslmode=verify-full', verified],
    ['ssl=no-verify&sslmode=allow', unverified],
    ['ssl=no-verify', unverified],
    ['pgbouncer=true&connection_limit=1&pool_timeout=0&statement_cache_size=0&supa=base-pooler.x', false],
    ['ssl=false', false],
    ['sslmode=require&sslnegotiation=direct', unverified, 'direct'],
    ['sslmode=verify-full&sslnegotiation=direct', verified, 'direct'],
    ['sslmode=verify-full&uselibpqcompat=true', verified],
  ] as const) {
    const client = new Client(parsePostgresAddress(`${base}?${query}`).begin().config) as unknown as Opened
    const { ssl } = client
    const found =
      typeof ssl !== 'object'
        ? ssl
        : { rejectUnauthorized: ssl.rejectUnauthorized, checkServerIdentity: typeof ssl.checkServerIdentity }
    assert.deepEqual([found, client.sslNegotiation], [expected, negotiation], query)
  }
})

interface Opened {
  readonly ssl: false | { readonly rejectUnauthorized?: boolean; readonly checkServerIdentity?: unknown }
  readonly sslNegotiation: string
}

test('an address may name a socket, also with a user and without a host, as Cloud SQL gives it', () => {
  for (const [url, config, target] of [
    [
      'postgresql://ann:s%40cret@/shop?host=/cloudsql/a:b:c',
      { host: '/cloudsql/a:b:c', user: 'ann', password: 's@cret', database: 'shop' },
      { host: '/cloudsql/a:b:c', database: 'shop' },
    ],
    ['postgresql://%2Frun%2Fpg/shop', { host: '/run/pg', database: 'shop' }, { host: '/run/pg', database: 'shop' }],
    [
      'postgresql://:secret@db/shop',
      { host: 'db', password: 'secret', database: 'shop' },
      { host: 'db', database: 'shop' },
    ],
    ['postgresql://:secret@/shop', { password: 'secret', database: 'shop' }, { host: 'localhost', database: 'shop' }],
    ['postgresql:///shop', { database: 'shop' }, { host: 'localhost', database: 'shop' }],
    ['postgres://ann@:5433', { port: 5433, user: 'ann', database: 'ann' }, { host: 'localhost:5433', database: 'ann' }],
    [
      'postgresql://[::1]:5433/my%2Fshop?application_name=x',
      { host: '::1', port: 5433, database: 'my/shop', application_name: 'x' },
      { host: '[::1]:5433', database: 'my/shop' },
    ],
  ] as const) {
    const address = parsePostgresAddress(url)
    const { sslnegotiation: _, enableChannelBinding: __, ...found } = address.begin().config
    assert.deepEqual(found, config, url)
    assert.deepEqual(address.target, target, url)
  }
  for (const url of [
    'postgres://ann:1/2#3@host/x',
    'postgres://ann:1/2@host/x',
    'postgres://ann:%zz@host/x',
    'postgres://ann:a,b/c@host/x',
  ])
    assert.throws(() => parsePostgresAddress(url), { code: 'WP_STORE_URL_INVALID' }, url)
})

test('no part of a password is printed, wherever it stands and whatever it contains', () => {
  const part = fc.stringMatching(/^[g-z]{6}$/)
  const separator = fc.constantFrom('@', '/', '#', '?', ':', ',', '&', '=', '%', ' ', '\\', '[', '+')
  const between = fc.array(separator, { minLength: 1, maxLength: 2 }).map((found) => found.join('1'))
  const cut = (text: string) => text.split('#')[0]!
  const anyWay = (first: string, between: string, last: string) => {
    const secret = `${first}${between}${last}`
    const addresses = ['postgresql://', 'postgres//', 'postgres:', '//', ''].flatMap((scheme) => [
      `${scheme}ann:${secret}@db/app`,
      `${scheme}ann:${secret}@db:5432/app?sslmode=require`,
      `${scheme}:${secret}@db/app`,
      `${scheme}ann:1${secret}@db`,
      `${scheme}ann@db/app?password=${secret}`,
      `${scheme}db/app?sslpassword=${secret}&sslmode=require`,
      `${scheme}?host=/run/pg&password=${secret}`,
    ])
    // Without a host, what follows an "@" of the password is one.
    if (!between.includes('@')) addresses.push(`postgresql://ann:${secret}`, `postgresql://ann:${secret}/app`)
    for (const address of new Set([...addresses, ...addresses.map(cut)])) {
      const texts = [redactUrl(address)]
      try {
        parsePostgresAddress(address)
      } catch (error) {
        texts.push(messageOf(error))
      }
      for (const text of texts) {
        assert.ok(!text.includes(first) && !text.includes(last), `${address}: ${text}`)
      }
    }
  }
  fc.assert(fc.property(part, between, part, anyWay), { numRuns: 100 })
  assert.equal(redactUrl('postgresql://ann:hunter'), 'postgresql://ann…')
})

test('a schema is the search path, by each name, and also that of the direct address', () => {
  for (const name of ['schema', 'currentSchema', 'search_path']) {
    const address = parsePostgresAddress(`${base}?${name}=my%20app&options=-ctimezone%3DUTC`)
    assert.deepEqual(address.searchPath, { name, value: 'my app' })
    assert.equal(address.begin().config.options, '-ctimezone=UTC')
  }
  const withPath = `${base}?schema=app`
  assert.deepEqual(parsePostgresAddress(withSearchPathOf(base, withPath)).searchPath?.value, 'app')
  assert.equal(withSearchPathOf(`${base}?search_path=app`, withPath), `${base}?search_path=app`)
  assert.throws(() => withSearchPathOf(`${base}?search_path=other`, withPath), { code: 'WP_STORE_URL_OPTION' })
})

test('sslmode=allow and prefer try the other way once, for a reason that it can change', () => {
  const rejected = () => Object.assign(new Error('no pg_hba.conf entry'), { code: '28000' })
  const wrongPassword = Object.assign(new Error('wrong password'), { code: '28P01' })
  const encrypted = { rejectUnauthorized: false }
  for (const [mode, first, other] of [
    ['allow', false, encrypted],
    ['prefer', encrypted, false],
  ] as const) {
    const address = parsePostgresAddress(`${base}?sslmode=${mode}`)
    const attempts = [address.begin(), address.begin()] // two at the same time
    for (const { config, failed } of attempts) {
      assert.deepEqual(config.ssl, first)
      failed(wrongPassword)
      assert.equal(address.isWorthRetry(wrongPassword), false)
      const error = rejected()
      failed(error)
      assert.equal(address.isWorthRetry(error), true)
    }
    const second = address.begin()
    assert.deepEqual(second.config.ssl, other)
    const error = rejected()
    second.failed(error)
    assert.equal(address.isWorthRetry(error), false, 'the role may not log in at all')
    assert.deepEqual(address.begin().config.ssl, first)
  }
})

test('a certificate is read again for each connection; while it cannot be read, the last text is used', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'ca.pem')
  await writeFile(file, 'first')
  const address = parsePostgresAddress(`${base}?sslmode=verify-full&sslrootcert=${file}`)
  const read = () => (address.begin().config.ssl as { ca: string }).ca
  await writeFile(file, 'second')
  assert.equal(read(), 'second')
  await rm(file)
  assert.equal(read(), 'second')
})

test('with channel_binding=require, a server that does not prove the binding gets no password and no statement', async () => {
  const message = (type: string, code?: number, text = '') => {
    const body = Buffer.concat([code === undefined ? Buffer.alloc(0) : Buffer.from([0, 0, 0, code]), Buffer.from(text)])
    const head = Buffer.from(`${type}0000`)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const ready = message('Z', undefined, 'I')
  const entered = [message('R', 0), ready]
  const sasl = (...mechanisms: string[]) => message('R', 10, `${mechanisms.join('\0')}\0\0`)
  const [plus, plain] = ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'] as const
  const goOn = (received: string) =>
    message('R', 11, `r=${/,r=(.*)$/.exec(received)![1]}x,s=${Buffer.from('salt').toString('base64')},i=1`)
  type Step = (received: string) => readonly Buffer[]
  const ways: Readonly<Record<string, readonly Step[]>> = {
    'a password in clear': [() => [message('R', 3), ...entered]],
    'an MD5 password': [() => [message('R', 5, 'salt'), ...entered]],
    'no password': [() => entered],
    'no login': [() => [ready]],
    'an unbound login': [() => [sasl(plain)], (received) => [goOn(received)]],
    'a password after an offer': [() => [sasl(plus, plain)], () => [message('R', 3)], () => entered],
    'an MD5 password after an offer': [() => [sasl(plus, plain)], () => [message('R', 5, 'salt')], () => entered],
    'an unbound login after an offer': [() => [sasl(plus)], () => [sasl(plain)], (received) => [goOn(received)]],
    'no password after an offer': [() => [sasl(plus, plain)], () => entered],
    'no login after an offer': [() => [sasl(plus, plain)], () => [ready]],
    'an end without a beginning': [() => [message('R', 12, 'v=AAAA'), ...entered]],
    'an end without a middle': [() => [sasl(plus)], () => [message('R', 12, 'v=AAAA'), ...entered]],
    'no signature': [() => [sasl(plus)], (received) => [goOn(received)], () => entered],
    'a wrong signature': [
      () => [sasl(plus)],
      (received) => [goOn(received)],
      () => [message('R', 12, 'v=AAAA'), ...entered],
    ],
  }
  for (const [way, steps] of Object.entries(ways)) {
    const received: string[] = []
    const server = createServer({ ...selfSigned, ALPNProtocols: ['postgresql'] }, (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        received.push(data.toString('latin1'))
        const step = steps[received.length - 1]
        if (step !== undefined) socket.write(Buffer.concat(step(received.at(-1)!)))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const options = 'sslmode=require&sslnegotiation=direct&channel_binding=require'
    const address = parsePostgresAddress(`postgresql://ann:s3cret@127.0.0.1:${port}/app?${options}`)
    const client = new (makeClientClass(address))({})
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('error', () => undefined)
    const result = await client.connect().then(
      () => 'connected',
      () => 'refused',
    )
    if (result === 'connected') await client.end()
    await ended
    server.close()
    await once(server, 'close')
    assert.equal(result, 'refused', way)
    const passwords = received.slice(1).filter((text) => text.startsWith('p') && !/SCRAM|,p=/.test(text))
    assert.deepEqual([passwords, received.length <= steps.length], [[], true], way)
  }
})

test('behind a pooler a search path is refused unless the role has it', async () => {
  const address = parsePostgresAddress(`${base}?search_path=${encodeURIComponent('"My App",public')}`)
  const connect = async (pid: number, path: string) => {
    const texts: string[] = []
    const query = async ({ text }: { text: string }) => {
      texts.push(text)
      return { rows: [{ pid, path }] }
    }
    await setUpClient({ processID: 1, query } as never, { address, session: {} })
    return texts.some((text) => text.includes(`set_config('search_path', E'"My App",public', false)`))
  }
  assert.equal(await connect(1, '"$user", public'), true)
  assert.equal(await connect(2, '"My App", public'), false)
  await assert.rejects(connect(2, 'public'), { code: 'WP_STORE_URL_OPTION', message: /pooler.*alter role/ })
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
      ['sslmode=require&channel_binding=require', true],
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
