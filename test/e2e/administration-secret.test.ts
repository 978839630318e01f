// The secret and the issuer of a System change while servers and tokens go on; what does not fit is refused at start.
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { loadFacts, makeSecrets, resealAll, sealedColumns, type System } from '../../src/store/index.ts'
import { callback, makeVisitor, requestOf } from '../auth/authorize/visitor.ts'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import type { World } from '../auth/world.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, baseUrl, secret, startServe, type Serving } from './serving.ts'
import { defaultKinds, isLong } from '../support/forms.ts'

const fresh = 'bN3vT8qLw0ZxK5mRj7YcHs2PdU4gFa9EoI6tXy1QnVk'
const password = 'quiet-otter-4417'
const use = (value: string) => ({ env: { WAYPOST_SECRET: value } })

describe('the secret and the issuer', { concurrency: 2 }, () => {
  for (const kind of defaultKinds) describe(kind, { concurrency: 1 }, () => declare(kind))
})

function declare(kind: 'sqlite' | 'postgresql'): void {
  let made: NewSystem
  const run = (words: string, options = {}) => made.folder.run(words, options)
  const errorOf = async (words: string, options = {}) => {
    const { code, stdout } = await run(`${words} --json`, options)
    return { code, ...JSON.parse(stdout).error } as { code: number | string; message: string; hint: string }
  }

  before(async () => {
    made = await makeSystem(kind)
    await made.folder.ok('user:add ann --scopes todo --password-stdin', { input: password })
    await made.folder.ok('token:issue --user ann')
    await addSubscriptions(made.host.system, 3)
    await made.folder.ok('env:set ORDERS_KEY', { input: 'key of orders' })
  })
  after(() => made.close())

  // Each signs or decrypts.
  const commands = ['serve --port 0', 'token:issue --user ann', 'event:execute', 'key:rotate --yes']
  for (const words of commands) {
    it(`${words} does not start with another secret or another base URL`, async () => {
      const other = await run(words, use(fresh))
      assert.equal(other.code, 1)
      assert.match(other.stderr, /WAYPOST_SECRET is not the secret that System at .* was set up with/)
      const elsewhere = await run(words, { env: { WAYPOST_BASE_URL: 'https://www.example.com' } })
      assert.equal(elsewhere.code, 1)
      assert.match(
        elsewhere.stderr,
        /WAYPOST_BASE_URL is https:\/\/www\.example\.com, but System at .* issues tokens as http:\/\/api\.example\.com/,
      )
      assert.match(elsewhere.stderr, /To change it permanently, run: waypost issuer:change https:\/\/www\.example\.com/)
      for (const text of [other.stderr, elsewhere.stderr]) {
        assertCalm(text)
        for (const hidden of [secret, fresh]) assert.ok(!text.includes(hidden))
      }
    })
  }

  it('secret:rotate rejects a secret that does not belong to this System, and a single secret', async () => {
    const other = 'a-secret-that-belongs-to-another-system-altogether'
    assert.equal((await errorOf('secret:rotate', use(`${fresh},${other}`))).code, 'WP_STORE_SECRET_CHANGED')
    const single = await errorOf('secret:rotate')
    assert.equal(single.code, 'WP_SERVER_SECRET_SINGLE')
    assert.match(single.hint, /WAYPOST_SECRET="new,old"/)
    assert.equal((await run('secret:rotate')).code, 1)
  })

  describe('with a server that runs', { concurrency: 1 }, () => {
    let serving: Serving
    let refreshToken: string
    let token: string
    const renew = () =>
      send(serving.port, { method: 'PUT', path: '/consumer/login', body: { refresh_token: refreshToken } })
    const ask = (bearer: string) =>
      send(serving.port, { path: '/consumer/subscription', headers: { authorization: `Bearer ${bearer}` } })
    const browse: World['send'] = async (line, { headers = {}, form } = {}) => {
      const [method = '', target = ''] = line.split(' ')
      const body = form === undefined ? {} : { body: new URLSearchParams(form) }
      const url = `http://127.0.0.1:${serving.port}${target}`
      const response = await fetch(url, { method, headers, redirect: 'manual', ...body })
      return { status: response.status, headers: response.headers, text: await response.text(), body: {} }
    }
    const restart = async (value: string) => {
      await serving.stop()
      serving = await startServe(withSecret(made, value))
    }
    before(async () => {
      serving = await startServe(made.folder)
      const { body } = await send(serving.port, { path: '/consumer/login', body: { username: 'ann', password } })
      ;({ token, refresh_token: refreshToken } = body)
    })
    after(() => serving.stop())

    it('it waits until the server seals under the new secret, and names it', async () => {
      const behind = await errorOf('secret:rotate', use(`${fresh},${secret}`))
      assert.equal(behind.code, 'WP_SERVER_SECRET_BEHIND')
      assert.match(behind.message, /^Some servers do not use the new secret yet: \S+$/)
      await restart(`${secret},${fresh}`)
      assert.equal((await errorOf('secret:rotate', use(`${fresh},${secret}`))).code, 'WP_SERVER_SECRET_BEHIND')
      assert.equal(await newestSealed(made.host.system, secret), 'all', 'nothing was sealed again')
    })

    it('it re-encrypts everything; tokens, logins, sessions and forms stay valid during each step', async () => {
      const added = await run(`client:add web --user ann --grants authorization_code --redirect-uri ${callback} --json`)
      const request = requestOf({ id: JSON.parse(added.stdout).client_id }, { scope: 'todo' })
      const [reader, late] = [makeVisitor({ send: browse }), makeVisitor({ send: browse })]
      await restart(`${fresh},${secret}`)
      await reader.logIn(await reader.authorize(request), { password })
      const form = await late.authorize(request)
      assert.equal((await ask(token)).status, 200)
      const before = JSON.parse((await run('doctor --json', use(`${fresh},${secret}`))).stdout)
      const warned = before.checks.find((one: { check: string }) => one.check === 'secret')
      assert.deepEqual(
        [warned.state, warned.message, warned.command],
        [
          'warn',
          'WAYPOST_SECRET decrypts the secrets in System; 5 values are still encrypted with the old secret',
          'waypost secret:rotate',
        ],
      )
      const rotated = await run('secret:rotate', use(`${fresh},${secret}`))
      assert.equal(rotated.code, 0, rotated.stderr)
      assert.equal(rotated.stdout, '  Encrypted  1 signing key, 3 subscriptions, 1 variable\n')
      assert.match(rotated.stderr, /^ {2}Target {5}\S+\n {2}Next {7}set WAYPOST_SECRET to the new secret only/)
      assert.equal(await newestSealed(made.host.system, fresh), 'all')
      const first = await renew()
      assert.equal(first.status, 200)
      refreshToken = first.body.refresh_token
      await restart(fresh)
      assert.equal((await ask(token)).status, 200)
      assert.equal((await ask(first.body.token)).status, 200)
      assert.match((await reader.authorize({ ...request, prompt: 'none' })).headers.get('location') ?? '', /[?&]code=/)
      assert.match((await late.logIn(form, { password })).headers.get('location') ?? '', /[?&]code=/)
      assert.equal((await renew()).status, 200)
    })

    it('afterwards the new secret alone works, the old one alone is rejected, and both in either order are accepted', async () => {
      for (const [value, code] of [
        [fresh, 0],
        [secret, 1],
        [`${secret},${fresh}`, 0],
        [`${fresh},${secret}`, 0],
      ] as const) {
        assert.equal((await run('token:issue --user ann', use(value))).code, code, value)
      }
      const doctor = JSON.parse((await run('doctor --json', use(fresh))).stdout)
      const check = doctor.checks.find((one: { check: string }) => one.check === 'secret')
      assert.deepEqual([check.state, check.message], ['ok', 'WAYPOST_SECRET decrypts the secrets in System'])
    })

    it('a second run changes nothing', async () => {
      const again = await run('secret:rotate --json', use(`${fresh},${secret}`))
      const behind = JSON.parse(again.stdout)
      assert.deepEqual(behind, { from: 'WAYPOST_SECRET', changed: false, resealed: 0 })
    })
  })

  it('a rotation that is killed leaves everything readable with both secrets, and the next one completes it', async () => {
    const both = `${secret},${fresh}` // back to the first one
    await addSubscriptions(made.host.system, isLong ? 3000 : 1000, 'many')
    await made.host.system.transaction((trx) =>
      resealAll(made.host.system, { trx, secrets: makeSecrets(`${fresh},${secret}`) }),
    )
    let isDone = false
    for (let waitMs = isLong ? 200 : 500; !isDone; waitMs *= isLong ? 1.5 : 2) {
      const rotating = withSecret(made, both).start('secret:rotate')
      const ended = await Promise.race([rotating.ended, pause(waitMs)])
      if (ended === undefined) process.kill(rotating.pid, 'SIGKILL')
      isDone = (await rotating.ended).code === 0
      const { secret_check: bound = '' } = await loadFacts(made.host.system)
      const isBound = makeSecrets(secret).matches(bound)
      if (isBound) assert.equal(await newestSealed(made.host.system, secret), 'all')
      assert.equal(await newestSealed(made.host.system, both), 'all')
      isDone ||= isBound // killed behind its commit
    }
    assert.equal((await run('token:issue --user ann')).code, 0)
  })

  it('doctor --restored shows what is active and asks for confirmation, unless --yes is given', async () => {
    // This process has the file open, and a log beside it may belong to another file.
    const restored = async (words = '') => {
      if (kind === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(made.host.system.db)
      return run(`doctor --restored${words}`)
    }
    const asked = await restored()
    assert.deepEqual([asked.code, asked.stdout], [1, ''])
    assert.match(
      asked.stderr,
      /^ {2}Target {5}\S+\n {2}Backup {5}from \d+ \S+ ago or later\n {2}Active {5}\d+ valid token/,
    )
    assert.match(asked.stderr, /This command requires confirmation, .* add --yes\.$/ms)
    const { code, stdout, stderr } = await restored(' --yes')
    assert.deepEqual([code, stdout], [0, '  Restored   caches of all servers cleared\n'])
    assert.match(stderr, /waypost token:revoke --user NAME\n/)
    assertCalm(stderr)
    const report = JSON.parse((await restored(' --revoke-tokens --yes --json')).stdout)
    assert.deepEqual(
      [Object.keys(report), report.alive.users],
      [['restored', 'backup', 'alive', 'revoked', 'deliveries'], 1],
    )
    assert.deepEqual(JSON.parse((await run('token:list --json')).stdout), { tokens: [] })
    for (const words of ['doctor --yes', 'doctor --revoke-tokens']) assert.equal((await run(words)).code, 2)
  })

  describe('issuer:change', { concurrency: 1 }, () => {
    let serving: Serving
    let login: { token: string; refresh_token: string }
    before(async () => {
      serving = await startServe(made.folder)
      const { body } = await send(serving.port, { path: '/consumer/login', body: { username: 'ann', password } })
      login = body
    })
    after(() => serving.stop())
    const next = 'https://www.example.com'
    const ask = async () =>
      (
        await send(serving.port, {
          path: '/consumer/subscription',
          headers: { authorization: `Bearer ${login.token}` },
        })
      ).status

    it('explains its effect, and requires --yes without a terminal', async () => {
      const { code, stdout, stderr } = await run(`issuer:change ${next}`)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(
        stderr,
        /^ {2}Target {5}\S+\n {2}From {7}http:\/\/api\.example\.com\n {2}To {9}https:\/\/www\.example\.com\n {2}Servers {4}\S+\n {2}Tokens {5}\d+ valid access tokens?; rejected once/,
      )
      assert.match(stderr, /This command requires confirmation, .* add --yes\.$/ms)
      assert.equal((await loadFacts(made.host.system)).issuer, baseUrl)
    })

    it('rejects an invalid address', async () => {
      for (const url of ['api.example.com', 'ftp://example.com', `${next}/?a=b`]) {
        assert.equal((await errorOf(`issuer:change ${url} --yes`)).code, 'WP_SERVER_BASE_URL')
      }
    })

    it('running servers continue; after their next start old access tokens are rejected and refresh tokens stay valid', async () => {
      const { code, stdout, stderr } = await run(`issuer:change ${next}/ --yes`)
      assert.deepEqual([code, stdout], [0, `  Issuer     ${next}\n`])
      assert.match(stderr, /Next {7}WAYPOST_BASE_URL=https:\/\/www\.example\.com {3}here; on \S+, then restart\n/)
      assert.equal(await ask(), 200)
      await serving.stop()
      const refused = await run('serve --port 0')
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /issues tokens as https:\/\/www\.example\.com/)
      serving = await startServe(withVariables(made, { WAYPOST_BASE_URL: next }))
      assert.equal(await ask(), 401)
      const body = { refresh_token: login.refresh_token }
      const renewed = await send(serving.port, { method: 'PUT', path: '/consumer/login', body })
      assert.equal(renewed.status, 200)
      login = renewed.body
      assert.equal(await ask(), 200)
    })

    it('the same change again does nothing', async () => {
      const same = await run(`issuer:change ${next} --json`, { env: { WAYPOST_BASE_URL: next } })
      assert.equal(same.code, 0)
      const report = JSON.parse(same.stdout)
      assert.partialDeepStrictEqual(report, { changed: false, from: next, to: next, servers: [], tokens: 0 })
      assert.equal(report.deliveries.choice, 'hold', 'since the first change')
    })
  })
}

describe("a folder's own secret", { concurrency: 1 }, () => {
  it('replaces the secret in its file, which keeps its owner; an interrupted change is completed', async () => {
    const project = await makeProject()
    try {
      await project.ok('migrate')
      await project.ok('user:add ann')
      await project.ok('token:issue --user ann')
      const before = await project.read('.waypost/secret')
      const { stdout, stderr } = await project.run('secret:rotate')
      assert.equal(stdout, '  Encrypted  1 signing key, 0 subscriptions, 0 variables\n')
      assert.match(stderr, /Wrote {6}\.waypost\/secret; restart waypost dev if it is running\n$/)
      const second = await project.read('.waypost/secret')
      assert.match(second, /^[\w-]{43}\n$/)
      assert.notEqual(second, before)
      const { mode } = await stat(path.join(project.folder, '.waypost/secret'))
      assert.equal(mode & 0o777, 0o600)
      await project.ok('token:issue --user ann')

      // Killed behind the commit and before the file was written a last time.
      await project.write('.waypost/secret', `${second.trim()},${before.trim()}\n`)
      await project.ok('token:issue --user ann')
      await project.ok('secret:rotate')
      assert.equal(await project.read('.waypost/secret'), second)
      // Killed before the commit.
      const next = fresh.repeat(2)
      await project.write('.waypost/secret', `${next},${second.trim()}\n`)
      await project.ok('token:issue --user ann')
      await project.ok('secret:rotate')
      assert.equal(await project.read('.waypost/secret'), `${next}\n`)
      await project.ok('token:issue --user ann')
      const issuer = await project.run('issuer:change https://api.example.com --yes')
      assert.equal(issuer.code, 0, 'no dev has made it')
    } finally {
      await project.remove()
    }
  })
})

function withSecret(made: NewSystem, value: string) {
  return withVariables(made, { WAYPOST_SECRET: value })
}

/** The same folder, whose commands run with other variables. */
function withVariables({ folder }: NewSystem, env: Readonly<Record<string, string>>): NewSystem['folder'] {
  return { ...folder, start: (words, options) => folder.start(words, { ...options, env }) }
}

async function addSubscriptions({ db }: System, count: number, prefix = 'sub'): Promise<void> {
  const secrets = makeSecrets(secret)
  const ids = Array.from({ length: count }, (_, index) => `${prefix}_${index}`)
  for (let start = 0; start < count; start += 100) {
    const rows = ids.slice(start, start + 100).map((id) => ({
      id,
      user_id: 'u',
      event: 'e',
      endpoint: id,
      status: 'active' as const,
      revision: 1,
      secret: secrets.seal(`whsec_${id}`, { table: 'waypost_subscription', row: id, column: 'secret' }),
      created_at: 1,
    }))
    await db.insertInto('waypost_subscription').values(rows).execute()
  }
}

/** How much of what is sealed opens with one secret alone. */
async function newestSealed({ db }: System, value: string): Promise<'all' | 'some' | 'none'> {
  const secrets = makeSecrets(value)
  const opened: boolean[] = []
  for (const { table, column } of sealedColumns) {
    const rows = await db
      .selectFrom(table as 'waypost_key')
      .select(['id', `${column as 'private_jwk'} as sealed`])
      .where(column as 'private_jwk', 'is not', null)
      .execute()
    for (const { id, sealed } of rows) {
      try {
        secrets.unseal(sealed, { table, column, row: id } as Parameters<typeof secrets.unseal>[1])
        opened.push(true)
      } catch {
        opened.push(false)
      }
    }
  }
  if (opened.every(Boolean)) return 'all'
  return opened.some(Boolean) ? 'some' : 'none'
}
