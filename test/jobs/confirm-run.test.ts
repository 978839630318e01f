import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { ClaimedRun } from '../../src/events/index.ts'
import { confirmRun, Superseded } from '../../src/jobs/listeners/confirm-run.ts'
import { openTestHost, type TestHost } from '../events/host.ts'
import { bothKinds } from '../support/forms.ts'

const log = String.raw`{"msg":"it's a \\ and a ' in \"quotes\"; commit"}`
const claimed: ClaimedRun = {
  id: 'run_1',
  listener: 'bill',
  message: 'msg_1',
  event: 'order_paid',
  data: '{}',
  dispatchedAt: 0,
  dueAt: 0,
  turn: 3,
  failures: 0,
  postponed: 0,
  lost: 0,
}

for (const kind of bothKinds)
  describe(`the last statement of a run with "once", ${kind}`, () => {
    let opened: TestHost
    before(async () => {
      opened = await openTestHost(kind)
      await sql`create table app_effect (n int not null)`.execute(opened.host.system.db)
    })
    after(() => opened.close())

    const system = () => opened.host.system
    async function begin(turn: number): Promise<void> {
      await sql`delete from app_effect`.execute(system().db)
      await sql`delete from waypost_run`.execute(system().db)
      await sql`insert into waypost_run (id, listener, message_id, status, due_at, scheduled_at, created_at, turn, started_at)
        values ('run_1', 'bill', 'msg_1', 'running', 0, 0, 0, ${turn}, ${Date.now()})`.execute(system().db)
    }
    /** Confirms the run, and returns how others see it before the transaction has returned. */
    const confirm = () =>
      system()
        .db.transaction()
        .execute(async (trx) => {
          await sql`insert into app_effect (n) values (1)`.execute(trx)
          await confirmRun(system(), trx, { run: claimed, log })
          return row()
        })
    const row = () => system().db.selectFrom('waypost_run').select(['status', 'turn', 'log']).executeTakeFirstOrThrow()
    const effects = async () => (await sql`select n from app_effect`.execute(system().db)).rows.length

    test('records it with its effects, and on PostgreSQL has committed when it is answered', async () => {
      await begin(3)
      const seen = await confirm()
      assert.equal(seen.status, kind === 'postgresql' ? 'done' : 'running')
      assert.deepEqual(await row(), { status: 'done', turn: 4, log })
      assert.equal(await effects(), 1)
    })

    test('leaves nothing that comes later to run outside of its transaction', async () => {
      await begin(3)
      let late: Promise<unknown> | undefined
      await system()
        .db.transaction()
        .execute(async (trx) => {
          const confirmed = confirmRun(system(), trx, { run: claimed, log })
          late = sql`insert into app_effect (n) values (2)`.execute(trx).catch((error: unknown) => error)
          await confirmed
        })
      const error = (await late) as { readonly code?: string }
      const [count, code] = kind === 'postgresql' ? [0, 'WP_STORE_TRANSACTION_OVER'] : [1, undefined]
      assert.deepEqual([await effects(), error.code], [count, code])
    })

    test('rolls everything back if the run was taken over', async () => {
      await begin(5)
      await assert.rejects(confirm(), Superseded)
      assert.deepEqual(await row(), { status: 'running', turn: 5, log: null })
      assert.equal(await effects(), 0)
    })
  })
