// Statements that happen although the answer of the database is lost, for example because the connection breaks.
import assert from 'node:assert/strict'
import type { KyselyPlugin, QueryId } from 'kysely'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { allAttempts, loadAttemptTotals } from '../../src/events/index.ts'
import { storeErrors, type System } from '../../src/store/index.ts'
import { onEachDatabase } from '../events/world.ts'
import { isLong } from '../support/forms.ts'
import { until } from '../support/until.ts'

/** A System that loses the answers to some transactions and other statements that write. */
function loseAnswers(system: System, isLost: () => boolean): System {
  const pass = () => {
    if (isLost()) throw storeErrors.WP_STORE_FEED_STALE({})
  }
  const writing = new WeakSet<QueryId>()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if (/(update|delete from) waypost|"(Insert|Update|Delete)QueryNode"/.test(JSON.stringify(node)))
        writing.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (writing.has(queryId)) pass()
      return result
    },
  }
  return {
    ...system,
    db: system.db.withPlugin(plugin),
    async transaction(work) {
      const value = await system.transaction(work)
      pass()
      return value
    },
  }
}

onEachDatabase('workers that do not hear what they did', (world) => {
  test('post everything once, and count it once', async () => {
    const [endpoints, messages, maxLost] = isLong ? [40, 200, 100] : [10, 20, 6]
    const user = await world().addUser()
    const receiver = await world().openReceiver()
    await world().addSubscriptions(
      user,
      'note',
      Array.from({ length: endpoints }, (_, n) => `${receiver.url}/${n}`),
    )
    const stop = new AbortController()
    let answers = 0
    let lost = 0
    const system = loseAnswers(world().system, () => {
      const isLost = ++answers % 3 === 0 && lost < maxLost
      if (isLost) lost++
      return isLost
    })
    const options = { system, watch: true, signal: stop.signal, onError: () => undefined }
    const runs = [world().execute(options), world().execute(options)]
    for (let n = 0; n < messages; n++) {
      await world().dispatch('note', n)
      await pause(20)
    }
    const all = endpoints * messages
    const isOver = async () => {
      const rows = await world().deliveries()
      return rows.length === all && rows.every(({ status }) => status !== 'pending')
    }
    await until('everything is delivered', isOver)
    stop.abort()
    await Promise.all(runs)
    assert.ok(lost >= 4, `${lost} answers were lost`)
    const deliveries = await world().deliveries()
    assert.ok(deliveries.every((row) => row.status === 'delivered' && row.failures + row.lost === 0))
    assert.equal(receiver.received.length, all)
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, all)
    const attempts = await world().system.db.selectFrom(allAttempts.as('attempt')).select('id').execute()
    assert.equal(attempts.length, all)
    const totals = await loadAttemptTotals(world().system)
    assert.equal(
      totals.reduce((sum, { count }) => sum + count, 0),
      all,
    )
  })
})
