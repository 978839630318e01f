import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { request } from 'node:http'
import type { Worker } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { BuiltRelease } from '../../src/release/index.ts'
import type { Credentials } from '../auth/world.ts'
import { chooseKinds, isLong, longTest } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { makeExpensive, makeGreeting, openDeployers, type Call, type Deployers } from './deployers.ts'

const survey = 'POST /backend/deploy/survey'
const upload = 'POST /backend/deploy/artifact'
const activate = 'POST /backend/deploy'
const body = ({ manifest }: BuiltRelease, more: object = {}) => ({ protocol: 2, manifest, ...more })
const codeOf = ({ body: problem }: Awaited<ReturnType<Call>>) => String(problem.type).split('#')[1]

for (const kind of chooseKinds('sqlite')) {
  describe(`the limits of /backend/deploy on ${kind}`, () => {
    let world: Deployers
    before(async () => {
      world = await openDeployers(kind)
    })
    after(() => world.close())

    /** @returns a function that starts a request whose body does not end */
    const beginner = async (client: Credentials) => {
      const { access_token: token } = (await world.token(client, { grant_type: 'client_credentials' })).body
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      return () => {
        const unfinished = request(`${world.url}/backend/deploy/survey`, { method: 'POST', headers })
        unfinished.on('error', () => undefined)
        unfinished.write('{"protocol": 2,')
        return unfinished
      }
    }

    test('reads no body above the size limit, compressed or uncompressed, and no invalid JSON', async () => {
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const post = async (bytes: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
        const response = await fetch(`${world.url}/backend/deploy/survey`, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
          body: bytes,
        })
        return [response.status, ((await response.json()) as { type: string }).type.split('#')[1]]
      }
      const gzip = { 'content-encoding': 'gzip' }
      const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, '['))
      assert.ok(bomb.length < 1024 * 1024)
      assert.deepEqual(await post(bomb, gzip), [413, 'WP_BACKEND_BODY_SIZE'])
      assert.deepEqual(await post(gzipSync('['.repeat(1_000_000)), gzip), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{}', gzip), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{"__proto__": {}}'), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post(Uint8Array.of(0x22, 0xff, 0x22)), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{}', { 'content-encoding': 'br' }), [415, 'WP_BACKEND_BODY_ENCODING'])
      assert.deepEqual(await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), [
        415,
        'WP_RUNTIME_BODY_TYPE',
      ])
    })

    test('reads no number beyond a double, compressed or uncompressed', async () => {
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const built = JSON.stringify(body(makeGreeting('infinite')))
      const text = `${built.slice(0, -1)}, "more": { "value": 1e400 } }`
      for (const [line, headers, bytes] of [survey, upload, activate].flatMap((one) => [
        [one, {}, text] as const,
        [one, { 'content-encoding': 'gzip' }, gzipSync(text)] as const,
      ])) {
        const response = await fetch(`${world.url}${line.split(' ')[1]}`, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
          body: bytes,
        })
        const { type, detail } = (await response.json()) as { type: string; detail: string }
        assert.deepEqual([response.status, type.split('#')[1]], [400, 'WP_BACKEND_BODY'], line)
        assert.match(detail, /larger than 1\.8e308/, line)
      }
    })

    test('accepts four concurrent requests of one client; abandoned requests do not count', async () => {
      const begin = await beginner(world.deployClient)
      const built = body(makeGreeting('busy'))
      for (let round = 0; round < (isLong ? 3 : 1); round += 1) {
        const unfinished: ReturnType<typeof begin>[] = []
        let answer = await world.deploy(survey, built)
        await until('one is sent away', async () => {
          unfinished.push(begin()) // those beyond the fourth are rejected
          await pause(50)
          answer = await world.deploy(survey, built)
          return answer.status === 429
        })
        assert.equal(codeOf(answer), 'WP_BACKEND_CLIENT_BUSY')
        assert.equal(answer.headers.get('retry-after'), '1')
        assert.equal((await world.deployOther(survey, built)).status, 200)
        for (const one of unfinished) one.destroy()
        await until('there is a place again', async () => {
          await pause(50)
          return (await world.deploy(survey, built)).status === 200
        })
        world.clock.forward(60_000)
      }
    })

    test('accepts twelve concurrent requests and asks others to wait', async () => {
      const built = body(makeGreeting('busy'))
      const begins = await Promise.all([1, 2, 3].map(async (n) => beginner(await world.addDeployClient(`busy ${n}`))))
      const unfinished: ReturnType<(typeof begins)[number]>[] = []
      let answer = await world.deploy(survey, built)
      await until('one is sent away', async () => {
        unfinished.push(...begins.map((begin) => begin())) // those beyond the twelfth are rejected
        await pause(50)
        answer = await world.deploy(survey, built)
        return answer.status === 503
      })
      assert.equal(codeOf(answer), 'WP_BACKEND_BUSY')
      for (const one of unfinished) one.destroy()
      await until('there is a place again', async () => {
        await pause(50)
        return (await world.deploy(survey, built)).status === 200
      })
      world.clock.forward(60_000)
    })

    // In CI, body-thread.test.ts has this and the next one.
    longTest('lets clients take turns', async () => {
      const ended: string[] = []
      const expensive = [1, 2, 3, 4, 5].map(async (n) => {
        const { status } = await world.deploy(survey, body(makeExpensive(300 + n)))
        ended.push(`expensive ${status}`)
      })
      await until('the fifth is sent away', () => ended.length > 0)
      assert.equal((await world.deployOther(survey, body(makeGreeting('other')))).status, 200)
      ended.push('other')
      await Promise.all(expensive)
      assert.equal(ended[0], 'expensive 429')
      assert.ok(ended.indexOf('other') < 5, ended.join())
      world.clock.forward(60_000)
    })

    longTest('stops checking the bodies of abandoned requests', async () => {
      const threads: Worker[] = []
      const count = (thread: Worker) => void threads.push(thread)
      process.on('worker', count)
      const leaving = new AbortController()
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      const abandoned = [1, 2, 3, 4, 5].map((n) =>
        fetch(`${world.url}/backend/deploy/survey`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body(makeExpensive(50_000 + n))), // a minute each
          signal: leaving.signal,
        }),
      )
      assert.equal((await Promise.race(abandoned)).status, 429)
      leaving.abort()
      await Promise.allSettled(abandoned)
      assert.equal((await world.deployOther(survey, body(makeGreeting('other')))).status, 200)
      assert.ok(threads.length <= 2, `${threads.length} threads were started`) // one of them of the other client
      process.off('worker', count)
      world.clock.forward(60_000)
    })

    test('callers with backend.read only cannot prevent deployments', async () => {
      const begin = await beginner(world.planClient)
      const built = body(makeGreeting('looking'))
      const unfinished: ReturnType<typeof begin>[] = []
      await until('one is sent away', async () => {
        unfinished.push(begin())
        await pause(50)
        return (await world.plan(survey, built)).status === 429
      })
      const deployed = await world.deploy(survey, built)
      assert.equal(deployed.status, 200, deployed.text)
      for (const one of unfinished) one.destroy()
      await until('there is a place again', async () => {
        await pause(50)
        return (await world.plan(survey, built)).status === 200
      })
      world.clock.forward(60_000)
    })

    test('limits the rate of requests, and returns when to retry', async () => {
      const built = body(makeGreeting('often'))
      let last = await world.plan(survey, built)
      await until('it is too many', async () => {
        last = await world.plan(survey, built)
        return last.status === 429
      })
      assert.equal(codeOf(last), 'WP_BACKEND_RATE')
      assert.ok(Number(last.headers.get('retry-after')) > 0)
      world.clock.forward(60_000)
      assert.equal((await world.plan(survey, built)).status, 200)
    })
  })
}
