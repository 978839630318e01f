import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { issueHostToken } from '../../../src/operate/index.ts'
import { ensureTestUser } from '../../../src/server/index.ts'
import { actionFile } from '../../support/project-server.ts'
import { openLine } from '../../support/line.ts'
import { startOwnPostgres, type OwnPostgres } from '../../support/postgres.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'
import { openServeSite } from './site.ts'
import { asCommand } from '../../support/server.ts'

let postgres: OwnPostgres
before(async () => {
  postgres = await startOwnPostgres()
})
after(() => postgres.stop())

const files = {
  'waypost.yml': `routes:
  /still: { methods: { GET: { public: true, response: { type: object }, action: src/still.ts } } }
  /now: { methods: { GET: { public: true, response: { type: object }, action: src/now.ts } } }
  /own: { scopes: [own], methods: { GET: { response: { type: object }, action: src/still.ts } } }
`,
  'src/still.ts': actionFile('return {}'),
  'src/now.ts': actionFile(
    `await context.connection('System').selectFrom('waypost_user').select('id').execute(); return {}`,
  ),
}

test('while PostgreSQL is unavailable, routes that do not need it work, others return when to retry; then all recover', async () => {
  await using site = await openServeSite(await postgres.createSystem())
  await site.deploy(files)
  const server = await site.start()
  await ensureTestUser(server, 'ann', ['own'])
  const { access_token: token } = await issueHostToken(asCommand(site.host), {
    user: 'ann',
    scopes: ['own'],
    expires: undefined,
  })
  const own = { path: '/own', headers: { authorization: `Bearer ${token}` } }
  assert.equal((await send(server.port, own)).status, 200)
  assert.equal((await send(server.port, { path: '/now' })).status, 200)

  const failures: string[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) {
      const { status } = await send(server.port, { path: '/still' })
      if (status !== 200) failures.push(String(status))
      await pause(20)
    }
  })()
  const seen = { now: false, own: false }
  const back = postgres.crash()
  const watching = (async () => {
    while (!over.signal.aborted) {
      for (const [name, request] of Object.entries({ now: { path: '/now' }, own })) {
        const { status, headers } = await send(server.port, request)
        if (status === 200) continue
        assert.equal(status, 503, name)
        assert.match(headers['retry-after'] ?? '', /^\d+$/)
        seen[name as 'now' | 'own'] = true
      }
      await pause(10)
    }
  })()
  await back
  await until('the pool', async () => (await send(server.port, { path: '/now' })).status === 200)
  await until('the guard', async () => (await send(server.port, own)).status === 200)
  await until('readiness', async () => (await send(server.port, { path: '/health/ready' })).status === 200)
  over.abort()
  await Promise.all([asking, watching])
  assert.deepEqual(failures, [])
  assert.ok(seen.now, 'it was away')

  await site.deploy({ ...files, 'src/still.ts': actionFile('return { more: true }') })
  const say = () => server.logs.filter(({ msg }) => msg === 'release activated').length
  await until('the next release', () => say() === 2)
  const lines = server.logs.filter(({ level, msg }) => level >= 40 && /feed/.test(msg))
  assert.ok(lines.length <= 3, 'one line for each break of the feed')
})

test('a server that starts while PostgreSQL is away serves when it is back', async () => {
  const url = await postgres.createSystem()
  await using site = await openServeSite(url)
  await site.deploy(files)
  const line = await openLine(url)
  await line.cut()
  const warned = Promise.withResolvers<string>()
  const logger = pino({}, { write: (text) => warned.resolve(text) })
  const starting = site.start({ logger }, { WAYPOST_SYSTEM_URL: line.through(url) })
  assert.partialDeepStrictEqual(JSON.parse(await warned.promise), {
    level: 40,
    msg: 'System cannot be reached; retrying for 60 s',
  })
  await line.mend()
  const server = await starting
  assert.equal((await send(server.port, { path: '/now' })).status, 200)
  await server.close(true)
  await line.close()
})
