import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findQuantile } from '../../src/operate/statistics.ts'
import { listRouteTraffic, listTraffic, recordStatistics } from '../../src/operate/index.ts'
import type { RouteCount } from '../../src/runtime/index.ts'
import { pruneSystem } from '../../src/jobs/retention/prune.ts'
import { defaultSettings, latencyBoundsMs } from '../../src/kit/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { startTestServer } from '../support/server.ts'

const hour = 3_600_000
const minute = 60_000

function count(route: string, of: Partial<RouteCount> = {}): RouteCount {
  const buckets = latencyBoundsMs.map(() => 0)
  return { route, statuses: [1, 0, 0, 0], sumMs: 4, buckets: [0, 0, 1, ...buckets.slice(2)], ...of }
}

for (const kind of defaultKinds) {
  describe(`statistics on ${kind}`, () => {
    test('add up over servers, by minute, hour and route', async () => {
      await using server = await startTestServer({ kind })
      const { system } = server.host
      const start = 1_000 * hour
      await Promise.all([
        recordStatistics(system, [count('GET /a'), count('POST /b', { statuses: [0, 0, 2, 3], sumMs: 100 })], start),
        recordStatistics(system, [count('GET /a')], start + 10),
        recordStatistics(system, [count('GET /a')], start + minute),
      ])
      await recordStatistics(system, [], start)
      const within = { from: start, to: start + hour }
      const { periods: minutes, total } = await listTraffic(system, { span: 'minute', ...within })
      assert.deepEqual(
        minutes.map(({ at, requests, clientErrors, serverErrors }) => [
          at - start,
          requests,
          clientErrors,
          serverErrors,
        ]),
        [
          [0, 7, 2, 3],
          [minute, 1, 0, 0],
        ],
      )
      assert.partialDeepStrictEqual(total, { requests: 8, clientErrors: 2, serverErrors: 3 })
      const [hourly, ...others] = (await listTraffic(system, { span: 'hour', ...within, route: 'GET /a' })).periods
      assert.deepEqual(others, [])
      assert.deepEqual([hourly?.requests, hourly?.meanMs], [3, 4])
      const routes = await listRouteTraffic(system, { span: 'hour', ...within })
      assert.deepEqual(
        routes.map(({ route, requests }) => [route, requests]),
        [
          ['GET /a', 3],
          ['POST /b', 5],
        ],
      )
      const later = await listTraffic(system, { span: 'hour', from: start + hour, to: start + 2 * hour })
      assert.deepEqual(later.periods, [])
      assert.partialDeepStrictEqual(later.total, { requests: 0, p95Ms: undefined })
    })

    test('minutes are kept for 2 days, hours for 90', async () => {
      await using server = await startTestServer({ kind })
      const { system } = server.host
      const now = Date.now()
      const ages = [1, 3, 80, 100].map((days) => now - days * 24 * hour)
      for (const at of ages) await recordStatistics(system, [count('GET /a')], at)
      const pruned = await pruneSystem(system, { settings: defaultSettings })
      assert.equal(pruned.waypost_statistic, 4)
      const all = { from: 0, to: now }
      assert.equal((await listTraffic(system, { span: 'minute', ...all })).periods.length, 1)
      assert.equal((await listTraffic(system, { span: 'hour', ...all })).periods.length, 3)
    })
  })
}

test('quantiles are interpolated within their bucket', () => {
  const none = [...latencyBoundsMs, Infinity].map(() => 0)
  assert.equal(findQuantile(none, 0.5), undefined)
  assert.equal(findQuantile(none.with(3, 100), 0.5), 7.5)
  assert.equal(findQuantile(none.with(0, 95).with(4, 5), 0.95), 1)
  assert.equal(findQuantile(none.with(12, 1), 0.95), 10_000)
})
