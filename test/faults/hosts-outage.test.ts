// PostgreSQL goes away and comes back under three servers and a worker.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { loadFacts } from '../../src/store/index.ts'
import { openReceiver, type Receiver } from '../events/receiver.ts'
import type { Serving } from '../e2e/serving.ts'
import { longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import type { RunningCli } from '../support/cli.ts'
import { startOwnPostgres, type OwnPostgres } from '../support/postgres.ts'
import { send, type Answer } from '../support/send.ts'
import { openHosts, type Hosts, type People } from './hosts.ts'
import { openLane } from './lane.ts'

describe('three servers and a worker whose PostgreSQL is unavailable', { concurrency: 1 }, () => {
  let postgres: OwnPostgres
  let hosts: Hosts
  let servers: readonly Serving[]
  let people: People
  let token: Readonly<Record<string, string>>
  let receiver: Receiver
  let worker: RunningCli
  before(async () => {
    postgres = await startOwnPostgres()
    receiver = await openReceiver()
    hosts = await openHosts({ url: await postgres.createSystem() })
    await hosts.deploy('zero')
    worker = hosts.host.start('event:execute --watch')
    await until('the worker works', async () => (await loadFacts(hosts.system)).last_execute !== undefined)
    servers = await Promise.all([hosts.serve(), hosts.serve(), hosts.serve({}, '--cron')])
    const [{ port }] = servers as [Serving]
    people = await hosts.addPeople()
    token = await people.issue(port)
    const subscription = { event: 'noted', endpoint: receiver.url }
    const made = await send(port, { path: '/consumer/subscription', headers: token, body: subscription })
    assert.equal(made.status, 201, made.text)
  })
  after(async () => {
    const { code, stderr } = await worker.stop()
    await hosts[Symbol.asyncDispose]()
    await receiver.close()
    await postgres.stop()
    assert.equal(code, 0, `the worker ended by ${code}\n${stderr}`)
  })

  const eachServer = (work: (port: number) => Promise<void>) => Promise.all(servers.map(({ port }) => work(port)))
  const get = (port: number, path: string, headers = {}) => send(port, { path, headers })

  async function assertWithout(port: number): Promise<void> {
    assert.equal((await get(port, '/version')).status, 200)
    assert.equal((await send(port, { path: '/echo', body: { text: 'a' } })).body.text, 'a')
    for (const path of ['/openapi.json', '/docs', '/health/live']) assert.equal((await get(port, path)).status, 200)
    assert.equal((await get(port, '/nowhere')).status, 404)
    assert.equal((await get(port, '/own')).status, 401, 'nothing has to be asked about no token')
    const needing: Readonly<Record<string, () => Promise<Answer>>> = {
      'a route that reads System': () => get(port, '/stored'),
      'a route that dispatches': () => send(port, { path: '/note', body: {} }),
      'a token that may have been revoked': () => get(port, '/own', token),
      'a token that is asked for': () => people.ask(port),
      'a login': () => send(port, { path: '/consumer/login', body: { username: 'ann', password: 'wrong password' } }),
      'a list of subscriptions': () => get(port, '/consumer/subscription', token),
      'whether it is ready': () => get(port, '/health/ready'),
    }
    for (const [name, ask] of Object.entries(needing)) {
      let answer = await ask()
      await until(`${name} is refused`, async () => (answer = await ask()).status !== 200)
      assert.equal(answer.status, 503, `${name}: ${answer.status} ${answer.text}`)
      assert.ok(Number(answer.headers['retry-after']) >= 1, `${name}: ${answer.headers['retry-after']}`)
      assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONNREFUSED|password/, name)
    }
  }

  async function assertBack(release: string): Promise<void> {
    await eachServer(async (port) => {
      await until('ready', async () => (await get(port, '/health/ready')).status === 200)
      await until('System is read', async () => (await get(port, '/stored')).status === 200)
      await until('the token counts', async () => (await get(port, '/own', token)).status === 200)
      await people.issue(port)
    })
    const before = receiver.received.length
    await eachServer(async (port) => assert.equal((await send(port, { path: '/note', body: {} })).status, 200))
    await until('the worker delivers', () => receiver.received.length === before + servers.length)
    const { servers: told } = await hosts.deploy(release)
    assert.ok(told.length === servers.length && told.every(({ state }) => state === 'serving'))
    for (const { pid } of [...servers, worker]) process.kill(pid, 0) // throws when there is none any more
  }

  for (const [signal, how] of [
    ['SIGQUIT', 'crashes'],
    ['SIGINT', 'is stopped'],
  ] as const) {
    const declare = signal === 'SIGINT' ? longTest : test // in CI, only the crash, which is harder
    declare(
      `answer requests that need no database, reject others with a time to retry, and recover, when it ${how}`,
      async () => {
        const lanes = servers.map(({ port }) => openLane(port, { path: '/version' }, { pauseMs: 50 }))
        try {
          await postgres.crash({ signal, whileAway: async () => void (await eachServer(assertWithout)) })
          await assertBack(how)
        } finally {
          for (const lane of lanes) {
            const asked = await lane.stop()
            assert.deepEqual(
              asked.filter(({ answer }) => answer?.status !== 200),
              [],
            )
          }
        }
        assert.match(worker.stderr(), /Trying again/)
        await until('the worker says so', () => worker.stderr().includes('System is available again'))
      },
    )
  }
})
