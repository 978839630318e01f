import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { claimRuns } from '../../src/events/run/claim-runs.ts'
import { RunCounter } from '../../src/events/run/run-totals.ts'
import { loadRunTotals, makeDispatcher } from '../../src/events/index.ts'
import { pruneSystem } from '../../src/jobs/retention/prune.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import {
  cancelHostDelayed,
  cancelHostRun,
  cancelHostRuns,
  findHostRun,
  listHostDelayed,
  listHostListeners,
  listHostRuns,
  replayHostRuns,
  retryHostRun,
} from '../../src/operate/index.ts'
import { surveyOutline } from '../../src/operate/releases/gate/survey-release.ts'
import { openTestHost, type TestHost } from '../events/host.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand } from '../support/server.ts'

const day = 86_400_000
const confirm = async () => true
const listeners = { bill: { event: 'paid', action: 'src/bill.ts' }, mail: { event: 'paid', action: 'src/mail.ts' } }

for (const kind of defaultKinds)
  describe(`runs of listeners, ${kind}`, () => {
    let opened: TestHost
    before(async () => {
      opened = await openTestHost(kind)
      await opened.activate({ events: { paid: {} } })
    })
    after(() => opened.close())
    const host = () => asCommand(opened.host)
    const system = () => opened.host.system
    const states = async (listener: string) =>
      (await listHostRuns(host(), { listener, limit: 10 })).entry.map(({ state }) => state)

    async function dispatch(data: unknown, delay?: string): Promise<void> {
      const catalog = { paid: { listeners: Object.keys(listeners).map((name) => ({ name })) } }
      const dispatcher = makeDispatcher(system(), catalog)
      await dispatcher.store([dispatcher.prepare({ event: 'paid', data, ...(delay === undefined ? {} : { delay }) })])
    }
    const setAll = (values: { status?: 'pending' | 'dead'; due_at?: number; finished_at?: number | null }) =>
      system().db.updateTable('waypost_run').set(values).execute()

    test('a run is shown with its data; while it is pending, it can be made due and cancelled', async () => {
      await dispatch({ order: 17 })
      const [run] = (await listHostRuns(host(), { listener: 'bill', state: 'pending', limit: 10 })).entry
      const found = await findHostRun(host(), run!.id)
      assert.deepEqual([found.message?.event, found.message?.body, found.log], ['paid', '{"order":17}', undefined])
      await retryHostRun(host(), run!.id)
      await cancelHostRun(host(), run!.id)
      await assert.rejects(cancelHostRun(host(), run!.id), { code: 'WP_EVENTS_RUN_ENDED' })
      await assert.rejects(findHostRun(host(), 'run_\0'), { code: 'WP_EVENTS_RUN_UNKNOWN' })
      assert.deepEqual(await states('bill'), ['cancelled'])
    })

    test('those of a removed listener wait: the plan and the list say how many, until they are cancelled', async () => {
      await dispatch({ order: 18 })
      const known = await listHostListeners(host())
      assert.deepEqual(
        known.map(({ name, event, counts }) => [name, event, counts.pending]),
        [
          ['bill', undefined, 1],
          ['mail', undefined, 2],
        ],
      )
      const changes = [{ change: 'removed', kind: 'listener', name: 'mail', breaking: false, details: [] }] as const
      const compared = { changes, policies: [], accessWarnings: [] }
      const release = { id: 'rel_new', waypost: '1', variables: [], scopes: [], compared }
      const planned = await surveyOutline({ host: host(), release: release as never, active: { id: 'rel_old' } })
      assert.deepEqual(planned.changes[0]!.details, [
        { text: '2 pending runs wait until a release has it again', breaking: false },
      ])
      assert.equal(await cancelHostRuns(host(), { listener: 'mail', confirm }), 2)
      await assert.rejects(cancelHostRuns(host(), { listener: 'nothing', confirm }), {
        code: 'WP_SERVER_LISTENER_WITHOUT_RUNS',
      })
    })

    test('all dead runs of a listener are replayed, except those whose message was deleted', async () => {
      await system().db.deleteFrom('waypost_run').execute()
      await dispatch({ order: 19 })
      await dispatch({ order: 20 })
      await setAll({ status: 'dead', finished_at: Date.now() })
      const first = system().db.selectFrom('waypost_message').select('id').orderBy('id', 'desc').limit(1)
      await system().db.deleteFrom('waypost_message').where('id', '=', first).execute()
      assert.equal(await replayHostRuns(host(), { listener: 'bill', confirm }), 1)
      assert.deepEqual(await states('bill'), ['dead', 'pending'])
      assert.deepEqual(await states('mail'), ['dead', 'dead'])
      const dead = await listHostRuns(host(), { state: 'dead', limit: 10 })
      assert.equal(dead.entry.length, 3)
    })

    test('pending runs are deleted some time after a release no longer has their listener', async () => {
      await system().db.deleteFrom('waypost_run').execute()
      await dispatch({ order: 21 })
      await setAll({ due_at: Date.now() - 31 * day })
      await opened.activate({ events: { paid: {} }, listeners: { bill: listeners.bill } as never })
      const pruned = await pruneSystem(system(), { settings: defaultSettings })
      assert.equal(pruned['waypost_run'], 1)
      assert.deepEqual([await states('bill'), await states('mail')], [['pending'], []])
    })

    test('a delayed event is listed and cancelled', async () => {
      await dispatch({ order: 22 }, '1h')
      const [delayed] = (await listHostDelayed(host(), { limit: 10 })).entry
      await cancelHostDelayed(host(), delayed!.id)
      await assert.rejects(cancelHostDelayed(host(), delayed!.id), { code: 'WP_SERVER_DELAYED_UNKNOWN' })
      assert.deepEqual((await listHostDelayed(host(), { limit: 10 })).entry, [])
    })

    test('totals of runs are those of all workers; only those of hours are deleted', async () => {
      for (const latencyMs of [3, 4000]) {
        const counter = new RunCounter()
        counter.add('bill', 'done', latencyMs)
        counter.add('bill', 'repeated', 1)
        await counter.save(system())
        await counter.save(system())
      }
      const expected = [
        { listener: 'bill', outcome: 'done', bucket: 2, count: 1, sum_ms: 3 },
        { listener: 'bill', outcome: 'done', bucket: 11, count: 1, sum_ms: 4000 },
      ]
      const load = async (hours?: number) => (await loadRunTotals(system(), hours)).map((row) => ({ ...row }))
      assert.deepEqual([await load(), await load(24)], [expected, expected])
      const [bill] = await listHostListeners(host())
      assert.deepEqual([bill!.day.runs, bill!.day.failures], [2, 0])
      await system().db.updateTable('waypost_run_total').set({ hour: 1 }).where('hour', '>', 0).execute()
      assert.equal((await pruneSystem(system(), { settings: defaultSettings }))['waypost_run_total'], 2)
      assert.deepEqual(await load(), expected)
    })

    test('a worker that is not known claims nothing', async () => {
      assert.deepEqual(await claimRuns(system(), 'gone', [{ listener: 'bill', room: 1, isExclusive: false }]), [])
    })
  })
