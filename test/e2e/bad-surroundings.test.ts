// What is wrong around a project: usage, System, its secret and address, ports. Each is said, and nothing is half done.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, test } from 'node:test'
import { makeProject, type TestProject } from '../support/project.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { assertCalm, baseUrl, secret } from './serving.ts'
import { readSystem } from './snapshot.ts'
import { isLong, longTest } from '../support/forms.ts'

let project: TestProject
let postgres: TestPostgres
let occupied: Server
before(async () => {
  project = await makeProject()
  postgres = await startPostgres()
  occupied = createServer().listen(0, '0.0.0.0')
  await once(occupied, 'listening')
})
after(async () => {
  await once(occupied.close(), 'close')
  await postgres.stop()
  await project.remove()
})

interface Refusal {
  readonly words: string
  readonly env?: Record<string, string>
  readonly stderr: RegExp
}

async function assertRefused(name: string, { words, env = {}, stderr }: Refusal, code: 1 | 2 = 1): Promise<void> {
  const ended = await project.run(words, { env })
  assert.equal(ended.code, code, `${name}: waypost ${words}\n${ended.stdout}${ended.stderr}`)
  assert.match(ended.stderr, stderr, name)
  assert.equal(ended.stdout, '', name)
  assertCalm(ended.stderr)
  for (const hidden of [secret, 'geheim']) assert.ok(!ended.stderr.includes(hidden), `${name} shows a secret`)
}

describe('wrong usage ends with 2', () => {
  const usages: Record<string, Refusal> = {
    'an unknown command': {
      words: 'delpoy',
      stderr:
        /^Error: Unknown command "delpoy"\n {2}Did you mean waypost deploy\? waypost --help lists the commands\.\n$/,
    },
    'an unknown flag': {
      words: 'deploy --yess',
      stderr: /^Error: Unknown flag "--yess"\n {2}Did you mean --yes\? waypost deploy --help lists the flags\.\n$/,
    },
    'a required flag that is missing': {
      words: 'client:add shop',
      stderr: /^Error: Missing flag --user\n {2}See waypost client:add --help\.\n$/,
    },
    'an invalid duration': {
      words: 'event:execute --time-limit 5x',
      stderr: /^Error: --time-limit: "5x" is not a valid duration\. Write it as 55s, 10m or 1h\.\n/,
    },
    'nothing to revoke': { words: 'token:revoke', stderr: /^Error: Specify one of JTI, --user and --client/ },
    'two things to revoke': {
      words: 'token:revoke 3f0c9a52 --user ann',
      stderr: /^Error: Specify one of JTI, --user and --client/,
    },
  }
  for (const [name, refusal] of Object.entries(usages)) it(name, () => assertRefused(name, refusal, 2))
})

describe('a System that is not there', () => {
  it('is named, and only dev and migrate make one', async () => {
    const stderr = /^Error: There is no System database at \.waypost\/system\.db, and WAYPOST_SYSTEM_URL is not set\n/
    const commands = ['release:list', 'serve --port 0', 'event:execute', 'user:add ann']
    for (const words of commands) await assertRefused(words, { words, stderr })
    const none =
      /^Error: There is no System database at \.waypost\/system\.db, and neither WAYPOST_SYSTEM_URL nor --url is set\n/
    await assertRefused('deploy --yes', { words: 'deploy --yes', stderr: none })
    assert.equal(existsSync(path.join(project.folder, '.waypost/system.db')), false)
  })

  it('is not made where WAYPOST_SYSTEM_URL names it', async () => {
    const env = { WAYPOST_SYSTEM_URL: 'sqlite:other.db' }
    const stderr =
      /^Error: SQLite file not found: ".*other\.db"\n {2}Check the path\. Only waypost dev and waypost migrate /
    for (const words of ['deploy --yes', 'serve --port 0']) await assertRefused(words, { words, env, stderr })
    assert.equal(existsSync(path.join(project.folder, 'other.db')), false)
  })

  it('cannot be reached: every command reports it immediately, and serve retries', async () => {
    const env = { WAYPOST_SYSTEM_URL: `postgresql://waypost:geheim@127.0.0.1:${await closedPort()}/api` }
    const stderr =
      /^Error: Cannot reach the PostgreSQL database "api" at "127\.0\.0\.1:\d+": connect ECONNREFUSED .*\n {2}Check /
    const commands = ['migrate', 'deploy --yes', 'event:execute']
    for (const words of commands) await assertRefused(words, { words, env, stderr })
    const serving = project.start('serve --port 0', { env })
    await serving.waitFor(/cannot be reached; retrying for 60 s/)
    assert.doesNotMatch((await serving.stop()).stdout, /geheim/)
  })

  it('rejects the password', async () => {
    const env = { WAYPOST_SYSTEM_URL: postgres.url('postgres').replace(/:[^:@]+@/, ':geheim@') }
    await assertRefused('serve', {
      words: 'serve --port 0',
      env,
      stderr: /^Error: Cannot reach the PostgreSQL database .*password/,
    })
  })

  it('is not a database, or of a kind that Waypost does not support', async () => {
    await project.write('notes.db', 'These are notes, and no database at all.\n'.repeat(50))
    const env = { WAYPOST_SYSTEM_URL: 'sqlite:notes.db' }
    const stderr = /Error: Cannot open the SQLite file ".*notes\.db": file is not a database\n/
    await assertRefused('serve', { words: 'serve --port 0', env, stderr })
    await assertRefused('migrate', { words: 'migrate', env, stderr })
    await assertRefused('mysql', {
      words: 'serve --port 0',
      env: { WAYPOST_SYSTEM_URL: 'mysql://waypost:geheim@localhost/api' },
      stderr:
        /^Error: "mysql:\/\/waypost@localhost\/api" is not a valid System database URL\n {2}Set WAYPOST_SYSTEM_URL /,
    })
  })

  it('was never migrated', async () => {
    new DatabaseSync(path.join(project.folder, 'empty.db')).exec('create table other (id integer)')
    const stderr = /^Error: System at \S+ is missing tables .*\n {2}Run waypost migrate first\.\n$/
    const systems = { 'serve --port 0': 'sqlite:empty.db', 'event:execute': await postgres.createDatabase() }
    for (const [words, WAYPOST_SYSTEM_URL] of Object.entries(systems))
      await assertRefused(words, { words, env: { WAYPOST_SYSTEM_URL }, stderr })
    assert.deepEqual(Object.keys(readSystem(project, 'empty.db')), ['other'])
  })
})

describe('the secret and the base URL of a System', () => {
  const system = { WAYPOST_SYSTEM_URL: 'sqlite:production.db' }
  const complete = { ...system, WAYPOST_SECRET: secret, WAYPOST_BASE_URL: baseUrl }
  let fresh: ReturnType<typeof readSystem>

  before(async () => {
    await project.ok('migrate', { env: system })
    fresh = readSystem(project, 'production.db')
  })

  const beforeAnything: Record<string, Refusal> = {
    'no secret': {
      words: 'deploy --yes',
      env: system,
      stderr: /Error: WAYPOST_SECRET is required for System at \S+, but not set/,
    },
    'a short secret': {
      words: 'serve --port 0',
      env: { ...system, WAYPOST_SECRET: 'geheim' },
      stderr: /^Error: WAYPOST_SECRET is too short: it has 6 characters, but at least 32 are required\n/,
    },
    'no base URL': {
      words: 'deploy --yes',
      env: { ...system, WAYPOST_SECRET: 'geheim-but-of-more-than-thirty-two-characters' },
      stderr: /Error: WAYPOST_BASE_URL is required but not set: System at \S+ has no issuer yet\n/,
    },
    'an invalid base URL': {
      words: 'event:execute',
      env: { ...complete, WAYPOST_BASE_URL: 'api.example.com' },
      stderr: /^Error: "api\.example\.com" is not a valid WAYPOST_BASE_URL\n/,
    },
    'an invalid port': {
      words: 'serve',
      env: { ...complete, PORT: 'many' },
      stderr: /^Error: PORT is "many", which is not a valid port\n/,
    },
    'an invalid log level': {
      words: 'serve --port 0',
      env: { ...complete, LOG_LEVEL: 'loud' },
      stderr: /^Error: LOG_LEVEL is "loud", which is not a log level\n {2}Use one of trace, debug, /,
    },
  }
  for (const [name, refusal] of Object.entries(beforeAnything)) {
    it(`${name}: rejected, and System is unchanged`, async () => {
      await assertRefused(name, refusal)
      assert.deepEqual(readSystem(project, 'production.db'), fresh)
    })
  }

  it('valid ones are stored; others are rejected from then on', async () => {
    await project.ok('deploy --yes', { env: complete })
    const { port } = occupied.address() as AddressInfo
    await assertRefused('a port that is taken', {
      words: `serve --port ${port}`,
      env: complete,
      stderr: new RegExp(
        `^Error: Port ${port} on 0\\.0\\.0\\.0 is already in use\n  Stop .* port: --port ${port + 1}\n$`,
      ),
    })
    const deployed = readSystem(project, 'production.db')
    const others: Record<string, Refusal> = {
      'another secret': {
        words: 'serve --port 0',
        env: { ...complete, WAYPOST_SECRET: 'geheim-but-of-more-than-thirty-two-characters' },
        stderr: /^Error: WAYPOST_SECRET is not the secret that System at \S+ was set up with\n/,
      },
      'another base URL': {
        words: 'event:execute',
        env: { ...complete, WAYPOST_BASE_URL: 'http://other.example.com' },
        stderr:
          /^Error: WAYPOST_BASE_URL is http:\/\/other\.example\.com, but System at \S+ issues tokens as http:\/\/api\.example\.com\n/,
      },
    }
    for (const [name, refusal] of Object.entries(others)) await assertRefused(name, refusal)
    assert.deepEqual(readSystem(project, 'production.db'), deployed)
    assert.equal(existsSync(path.join(project.folder, '.waypost/secret')), false)
  })
})

// In CI, server/start-server.test.ts leaves nothing open after it.
longTest('a System whose serve could not listen is still free for development', async () => {
  const other = await makeProject()
  try {
    await other.ok('migrate')
    const { code } = await other.run(`serve --port ${(occupied.address() as AddressInfo).port}`)
    assert.equal(code, 1)
    const dev = other.start('dev --port 0')
    await dev.waitFor(/Ready in/)
    assert.equal((await dev.stop()).code, 0)
  } finally {
    await other.remove()
  }
})

async function closedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await once(probe.close(), 'close')
  return port
}

const skip =
  (!isLong && 'long form: packed.test.ts runs the package as any user') || (process.getuid?.() !== 0 && 'only for root')

describe('a user id without an entry in /etc/passwd', { skip }, () => {
  const uid = 12_345
  let own: TestProject
  before(async () => {
    own = await makeProject()
    await chmod(path.dirname(own.folder), 0o755)
  })
  after(() => own.remove())

  const surroundings: Record<string, Record<string, string>> = {
    'no variables at all': {},
    'what Docker sets': { HOME: '/' },
    'empty variables': { HOME: '', USER: '', LOGNAME: '', SHELL: '' },
    'a home folder of another user, and no folder for temporary files': { HOME: '/root', TMPDIR: '/root/none' },
  }
  for (const [name, env] of Object.entries(surroundings)) {
    test(`commands run with ${name}`, async () => {
      for (const words of ['routes', 'validate', '--help']) {
        const { code, stderr } = await own.run(words, { uid, env })
        assert.deepEqual([words, code], [words, 0], stderr)
      }
    })
  }

  test('commands say which folder they cannot write', async () => {
    const system = path.join(own.folder, '.waypost/system.db')
    for (const words of ['migrate', 'dev --port 0']) {
      const { code, stderr } = await own.run(words, { uid })
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`^Error: Cannot open the SQLite file "${system}": EACCES: permission denied, `))
      assert.match(stderr, /the current user can write to it and to its folder\.\n$/)
    }
    const created = await own.run('init shop --no-install', { uid })
    assert.equal(created.code, 1)
    assert.match(created.stderr, /^Error: Cannot write \S+\/shop\/\S+: EACCES: permission denied, mkdir .*\n.*\n$/)
  })

  test('dev serves a project with folders that the user cannot read, and names them', async () => {
    const shared = await makeProject()
    try {
      await chmod(path.dirname(shared.folder), 0o755)
      await rm(path.join(shared.folder, '.waypost'), { recursive: true })
      for (const name of ['', 'src']) await chown(path.join(shared.folder, name), uid, uid)
      await mkdir(path.join(shared.folder, 'pgdata/base'), { recursive: true, mode: 0o700 })
      const dev = shared.start('dev --port 0', { uid })
      await dev.waitFor(
        /warning {2}Changes are not detected in files and folders that this user may not read: pgdata\n/,
      )
      const [, url] = await dev.waitFor(/API +(http:\S+)/)
      assert.equal((await fetch(`${url}/todo`)).status, 200)
      const later = path.join(shared.folder, 'src/secret')
      await mkdir(later, { mode: 0o700 })
      await dev.waitFor(/may not read: src\/secret\n/)
      assert.equal((await dev.stop()).code, 0)
    } finally {
      await shared.remove()
    }
  })

  test('a project is migrated, deployed and served, also after root has migrated it', async () => {
    const waypost = path.join(own.folder, '.waypost')
    await own.ok('migrate')
    for (const file of ['', ...(await readdir(waypost))]) await chown(path.join(waypost, file), uid, uid)
    await rm(path.join(waypost, 'system.db.migrate.lock'))
    await own.ok('migrate') // as root, beside files of the other user
    for (const words of ['migrate', 'deploy --yes', 'user:list', 'event:execute', 'doctor']) {
      const { code, stdout, stderr } = await own.run(words, { uid })
      assert.deepEqual([words, code], [words, 0], stdout + stderr)
    }
    const server = own.start('serve --port 0', { uid })
    const [, url] = await server.waitFor(/Serving +(http:\S+)/)
    assert.equal((await fetch(`${url}/todo`)).status, 200)
    assert.equal((await server.stop()).code, 0)
  })
})

test('a .env of Windows is read, and one that cannot be read stops every command', async () => {
  const own = await makeProject()
  try {
    const line = 'WAYPOST_SYSTEM_URL=sqlite:other.db\r\n'
    await own.write('.env', `\u{FEFF}${line}`)
    await own.ok('migrate')
    assert.ok(existsSync(path.join(own.folder, 'other.db')))
    await writeFile(path.join(own.folder, '.env'), `\u{FEFF}${line}`, 'utf16le')
    for (const words of ['migrate', 'serve', 'dev', 'deploy --yes']) {
      const { code, stderr } = await own.run(words)
      assert.equal(code, 1, words)
      assert.match(stderr, /^Error: Cannot read \S+\.env: it is UTF-16, not UTF-8\n/)
    }
    assert.deepEqual(
      (await readdir(own.folder)).filter((name) => name.startsWith('.waypost')),
      ['.waypost'],
    )
    assert.ok(!existsSync(path.join(own.folder, '.waypost/system.db')))
  } finally {
    await own.remove()
  }
})

test('a password on standard input may begin with a byte order mark, and is not stored as UTF-16', async () => {
  const own = await makeProject()
  try {
    await own.ok('migrate')
    const input = '\u{FEFF}correct horse battery\r\n'
    await own.ok('user:add ann --password-stdin', { input })
    const wrong = 'c\0o\0r\0r\0e\0c\0t\0'
    const { code, stderr } = await own.run('user:add eve --password-stdin', { input: wrong })
    assert.equal(code, 1)
    assert.match(stderr, /^Error: Cannot read the value on standard input: /)
    assert.doesNotMatch(await own.ok('user:list'), /eve/)
  } finally {
    await own.remove()
  }
})
