import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isWaypostError, type Variables } from '../../src/kit/index.ts'
import {
  awaitHost,
  checkIdentity,
  nameTarget,
  openHost,
  openIdentity,
  readBaseUrl,
  type Host,
} from '../../src/host/index.ts'
import { loadFacts, migrateSystem, storeFact } from '../../src/store/index.ts'
import { openLine } from '../support/line.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { defaultKinds } from '../support/forms.ts'

const secret = 'a secret of more than 32 characters'
const other = 'another secret of more than 32 characters'
const base = 'https://api.example.com'
const folders: string[] = []

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-host-'))
  folders.push(folder)
  return folder
}
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

/** What a command prints and exits with: a message and a hint that a user can act on, no bug. */
function tellsUser(code: string, parts: readonly string[] = []) {
  return (error: unknown) => {
    assert.ok(isWaypostError(error), String(error))
    assert.equal(error.code, code)
    assert.notEqual(error.kind, 'bug')
    assert.ok(error.hint)
    for (const part of parts)
      assert.ok(`${error.message} ${error.hint}`.includes(part), `"${part}" in ${error.message}`)
    assert.ok(!`${error.message} ${error.hint}`.includes(secret) && !error.message.includes(other))
    return true
  }
}

for (const kind of defaultKinds) {
  describe(`a host on ${kind}`, () => {
    let postgres: TestPostgres
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
    })
    after(async () => {
      if (kind === 'postgresql') await postgres.stop()
    })

    /** Opens hosts on a new System, as commands in one folder do. */
    async function makeSystem(origin?: 'development' | 'production') {
      const folder = await makeFolder()
      const url = kind === 'sqlite' ? 'sqlite:own.db' : await postgres.createDatabase()
      const open = (variables: Variables) =>
        openHost({
          folder,
          variables: { WAYPOST_SYSTEM_URL: url, ...variables },
          create: true,
          unmigrated: true,
          disposable: true,
        })
      await using first = disposable(await open({}))
      await migrateSystem(first.host.system)
      if (origin !== undefined) await storeFact(first.host.system, 'origin', origin)
      return { folder, open }
    }
    const identify = async (open: (variables: Variables) => Promise<Host>, variables: Variables) => {
      await using one = disposable(await open(variables))
      return await openIdentity(one.host) // before it is closed
    }

    test('keeps the secret and the issuer of the first command, and compares later ones', async () => {
      const { open } = await makeSystem('production')
      const good = { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: base }
      const identity = await identify(open, good)
      assert.equal(identity.issuer, base)
      assert.equal(identity.isDevelopment, false)
      await identify(open, good)
      assert.equal((await identify(open, { WAYPOST_SECRET: secret })).issuer, base)
      await assert.rejects(
        identify(open, { ...good, WAYPOST_SECRET: other }),
        tellsUser('WP_STORE_SECRET_CHANGED', ['WAYPOST_SECRET', 'new,old']),
      )
      await assert.rejects(
        identify(open, { ...good, WAYPOST_BASE_URL: 'https://www.example.com' }),
        tellsUser('WP_SERVER_ISSUER_CHANGED', ['https://www.example.com', `Set WAYPOST_BASE_URL to ${base}.`]),
      )
      await assert.rejects(
        identify(open, { WAYPOST_BASE_URL: base }),
        tellsUser('WP_SERVER_SECRET_MISSING', ['WAYPOST_SECRET']),
      )
      await assert.rejects(
        identify(open, { ...good, WAYPOST_SECRET: 'short' }),
        tellsUser('WP_STORE_SECRET_SHORT', ['5 characters', 'at least 32']),
      )
    })

    test('accepts new,old while the secret changes, in both orders', async () => {
      const { open } = await makeSystem()
      const sealed = (await identify(open, { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: base })).secrets.seal('x', place)
      const during = await identify(open, { WAYPOST_SECRET: `${other},${secret}` })
      assert.equal(during.secrets.unseal(sealed, place), 'x')
      assert.equal((await identify(open, { WAYPOST_SECRET: `${secret},${other}` })).secrets.unseal(sealed, place), 'x')
    })

    test('accepts two notations of one address as the same issuer', async () => {
      const { open } = await makeSystem()
      await identify(open, { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: base })
      for (const written of [`${base}/`, 'HTTPS://API.Example.COM', `${base}:443`, ` ${base} `]) {
        assert.equal((await identify(open, { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: written })).issuer, base)
      }
    })

    test('stores nothing if the command fails', async () => {
      const { open } = await makeSystem()
      const wrong: Variables[] = [
        { WAYPOST_SECRET: secret },
        { WAYPOST_SECRET: 'short', WAYPOST_BASE_URL: base },
        { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: 'api.example.com' },
        { WAYPOST_BASE_URL: base },
      ]
      for (const variables of wrong) await assert.rejects(identify(open, variables), isWaypostError)
      await using one = disposable(await open({ WAYPOST_SECRET: secret, WAYPOST_BASE_URL: base }))
      await checkIdentity(one.host)
      assert.deepEqual(await loadFacts(one.host.system), {})
    })

    test('stores the values of one of several concurrent first commands', async () => {
      const { open } = await makeSystem()
      const variables = [secret, other, secret, other].map((one, index) => ({
        WAYPOST_SECRET: one,
        WAYPOST_BASE_URL: `https://${index % 2}.example.com`,
      }))
      const results = await Promise.allSettled(variables.map((one) => identify(open, one)))
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.issuer] : []))
      assert.ok(winners.length > 0)
      assert.equal(new Set(winners).size, 1)
      for (const result of results) {
        if (result.status === 'rejected')
          assert.match(result.reason.code, /WP_STORE_SECRET_CHANGED|WP_SERVER_ISSUER_CHANGED/)
      }
    })

    test("of development uses the folder's own secret and follows the base address", async () => {
      const { folder, open } = await makeSystem('development')
      const local = { WAYPOST_BASE_URL: 'http://localhost:3000', WAYPOST_SECRET: 'ignored' }
      const first = await identify(open, local)
      assert.equal(first.isDevelopment, true)
      assert.equal(first.issuer, 'http://localhost:3000')
      const moved = await identify(open, { WAYPOST_BASE_URL: 'http://localhost:4000' })
      assert.equal(moved.issuer, 'http://localhost:4000')
      assert.equal((await identify(open, {})).issuer, 'http://localhost:4000')
      assert.equal(moved.secrets.checkValue, first.secrets.checkValue)
      assert.ok((await readFile(path.join(folder, '.waypost', 'secret'), 'utf8')).length > 32)
    })

    test('of development reports that its secret was lost', async () => {
      const { folder, open } = await makeSystem('development')
      await identify(open, { WAYPOST_BASE_URL: base })
      await rm(path.join(folder, '.waypost', 'secret'))
      await assert.rejects(identify(open, {}), tellsUser('WP_STORE_SECRET_CHANGED'))
    })

    test('requires a base URL if System is not a file of the folder', async () => {
      const { open } = await makeSystem()
      await assert.rejects(
        identify(open, { WAYPOST_SECRET: secret }),
        tellsUser('WP_SERVER_BASE_URL_MISSING', ['WAYPOST_BASE_URL', 'https://api.example.com']),
      )
    })

    test('rejects a System without tables', async () => {
      const url = kind === 'sqlite' ? 'sqlite:empty.db' : await postgres.createDatabase()
      const opening = openHost({ folder: await makeFolder(), variables: { WAYPOST_SYSTEM_URL: url }, create: true })
      await assert.rejects(opening, tellsUser('WP_STORE_NOT_MIGRATED', ['waypost migrate']))
    })
  })
}

describe('the embedded System', () => {
  test('exists only after it was created, and no other command creates it', async () => {
    const folder = await makeFolder()
    const opening = openHost({ folder, variables: {} })
    await assert.rejects(opening, tellsUser('WP_SERVER_NO_SYSTEM', ['WAYPOST_SYSTEM_URL', '.waypost/system.db']))
    assert.deepEqual(await readdir(folder), [])
    const missing = openHost({ folder, variables: { WAYPOST_SYSTEM_URL: 'sqlite:missing.db' } })
    await assert.rejects(missing, tellsUser('WP_STORE_MISSING', ['missing.db']))
    assert.deepEqual(await readdir(folder), [])
  })

  test('creates a secret that only its owner can read, one for all commands that start at once', async () => {
    const folder = await makeFolder()
    await using one = disposable(await openEmbedded(folder))
    const identities = await Promise.all(Array.from({ length: 20 }, () => openIdentity(one.host)))
    assert.equal(new Set(identities.map(({ secrets }) => secrets.checkValue)).size, 1)
    assert.equal(identities[0]!.issuer, 'http://localhost:3000')
    assert.equal((await stat(path.join(folder, '.waypost', 'secret'))).mode & 0o777, 0o600)
    const files = (await readdir(path.join(folder, '.waypost'))).filter((name) => name.startsWith('secret'))
    assert.deepEqual(files, ['secret'])
  })

  test('gets its issuer from the first server, whose port follows, and not from a command before it', async () => {
    await using one = disposable(await openEmbedded(await makeFolder()))
    assert.equal((await openIdentity(one.host)).issuer, 'http://localhost:3000')
    assert.equal((await loadFacts(one.host.system)).issuer, undefined)
    const own = (port: number, onStore?: () => Promise<void>) => ({
      issuer: `http://localhost:${port}`,
      ...(onStore && { onStore }),
    })
    const taken = () => Promise.reject(new Error('the port is in use'))
    await assert.rejects(openIdentity(one.host, own(4100, taken)), /the port is in use/)
    assert.equal((await loadFacts(one.host.system)).issuer, undefined)
    const both = await Promise.all([openIdentity(one.host, own(4107)), openIdentity(one.host, own(4108))])
    const [{ issuer }] = both
    assert.deepEqual(
      both.map((identity) => identity.issuer),
      [issuer, issuer],
    )
    assert.match(issuer, /^http:\/\/localhost:410[78]$/)
    assert.equal((await openIdentity(one.host, own(3000, taken))).issuer, issuer)
    assert.equal((await openIdentity(one.host)).issuer, issuer)
  })

  test('uses WAYPOST_SECRET if it is set, and creates no file then', async () => {
    const folder = await makeFolder()
    await using one = disposable(await openEmbedded(folder, { WAYPOST_SECRET: secret }))
    await openIdentity(one.host)
    await assert.rejects(stat(path.join(folder, '.waypost', 'secret')), { code: 'ENOENT' })
    await using two = disposable(await openEmbedded(folder))
    await assert.rejects(openIdentity(two.host), tellsUser('WP_STORE_SECRET_CHANGED'))
  })

  test('rejects a secret file that is too short', async () => {
    const folder = await makeFolder()
    await using one = disposable(await openEmbedded(folder))
    await writeFile(path.join(folder, '.waypost', 'secret'), 'short\n')
    await chmod(path.join(folder, '.waypost', 'secret'), 0o600)
    await assert.rejects(openIdentity(one.host), tellsUser('WP_STORE_SECRET_SHORT'))
  })
})

for (const [kind, target, named] of [
  ['sqlite', '/srv/todo/.waypost/system.db', '.waypost/system.db'],
  ['sqlite', '/var/lib/system.db', '/var/lib/system.db'],
  ['postgresql', 'postgresql://ann@db.example/todo', 'postgresql://ann@db.example/todo'],
] as const) {
  test(`the System ${target} of a folder is named ${named}`, () => {
    assert.equal(nameTarget({ folder: '/srv/todo', system: { kind, target } }), named)
  })
}

test('an invalid or unreachable address of System is shown without its password', async () => {
  const folder = await makeFolder()
  const open = (url: string) => openHost({ folder, variables: { WAYPOST_SYSTEM_URL: url } })
  await assert.rejects(open('mysql://root:hunter2@localhost/x'), (error: Error & { code?: string }) => {
    assert.match(error.code ?? '', /^WP_STORE_URL/)
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
  await assert.rejects(open('postgresql://root:hunter2@127.0.0.1:1/x'), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'WP_STORE_UNREACHABLE')
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
})

for (const [text, read] of [
  ['http://localhost:3000', 'http://localhost:3000'],
  ['https://api.example.com/', base],
  ['https://api.example.com:443', base],
  ['http://[::1]:3000//', 'http://[::1]:3000'],
  ['https://example.com/base/path/', 'https://example.com/base/path'],
] as const) {
  test(`the base address ${text} is ${read}`, () => assert.equal(readBaseUrl(text), read))
}

for (const text of [
  'api.example.com',
  'ftp://api.example.com',
  'https://user@api.example.com',
  'https://:word@api.example.com',
  'https://api.example.com/?a=b',
  'https://api.example.com/?',
  'https://api.example.com/#a',
  'https://',
]) {
  test(`${text} is not a valid base URL`, () =>
    assert.throws(() => readBaseUrl(text), tellsUser('WP_SERVER_BASE_URL', [text])))
}

const place = { table: 'waypost_key', row: '1', column: 'private_jwk' } as const

async function openEmbedded(folder: string, variables: Variables = {}): Promise<Host> {
  const host = await openHost({ folder, variables, create: true, unmigrated: true, disposable: true })
  await migrateSystem(host.system)
  return host
}

function disposable(host: Host) {
  return { host, [Symbol.asyncDispose]: () => host.close() }
}

describe('a host that waits for PostgreSQL', () => {
  let postgres: TestPostgres
  let url: string
  before(async () => {
    postgres = await startPostgres()
    url = await postgres.createSystem()
  })
  after(() => postgres.stop())

  /** Opens a host behind a line that is cut. @returns how often it was told that PostgreSQL is away */
  async function open(target: string, options: Partial<Parameters<typeof awaitHost>[0]> = {}) {
    let told = 0
    const host = await awaitHost({
      folder: await makeFolder(),
      variables: { WAYPOST_SYSTEM_URL: target },
      retryMs: 10,
      ...options,
      onUnavailable(error) {
        told += 1
        options.onUnavailable?.(error)
      },
    }).catch((error: unknown) => error)
    return { told, host }
  }

  test('opens it once it is reachable, and reports once that it is not', async () => {
    const line = await openLine(url)
    await line.cut()
    const onUnavailable = () => void pause(100).then(() => line.mend()) // it is tried several times
    const { told, host } = await open(line.through(url), { onUnavailable })
    assert.equal(told, 1)
    await (host as Host).close()
    await line.close()
  })

  test('times out after 60 s, and at once when it is stopped', async () => {
    const line = await openLine(url)
    await line.cut()
    let now = 0
    const clock = { now: () => Date.now(), monotonic: () => (now += 7000) }
    assert.ok(tellsUser('WP_STORE_UNREACHABLE')((await open(line.through(url), { clock })).host))
    assert.equal(now, 70_000)
    const stop = new AbortController()
    const options = { retryMs: 3_600_000, signal: stop.signal, onUnavailable: () => stop.abort() }
    assert.ok(tellsUser('WP_STORE_UNREACHABLE')((await open(line.through(url), options)).host))
  })

  test('does not wait where waiting does not help', async () => {
    for (const [part, value] of [
      ['password', 'wrong'],
      ['username', 'nobody'],
      ['pathname', '/missing'],
    ] as const) {
      const { told, host } = await open(Object.assign(new URL(url), { [part]: value }).href)
      assert.ok(tellsUser('WP_STORE_UNREACHABLE')(host), part)
      assert.equal(told, 0, part)
    }
  })
})
