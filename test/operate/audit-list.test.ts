import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { makeSortedId, sortedIdPrefix } from '../../src/kit/index.ts'
import { listHostAudit, type ActingHost, type ListedAudit } from '../../src/operate/index.ts'
import { asCommand, startTestServer, type TestServer } from '../support/server.ts'
import { chooseKinds } from '../support/forms.ts'

for (const kind of chooseKinds('postgresql')) {
  describe(`the list of the audit log on ${kind}`, () => {
    let server: TestServer
    let host: ActingHost
    const start = Date.parse('2026-01-01T00:00:00Z')
    const names = ['ann', 'bob', 'root']
    const actions = ['user.add', 'user.scopes', 'client.add']
    before(async () => {
      server = await startTestServer({ kind })
      host = asCommand(server.host)
      await host.system.db.deleteFrom('waypost_audit').execute()
      for (let at = 0; at < 60; at++) {
        const action = actions[at % 3]!
        await host.system.db
          .insertInto('waypost_audit')
          .values({
            id: makeSortedId('aud_', start + at * 1000),
            created_at: start + at * 1000,
            how: 'command',
            user_id: null,
            user_name: names[at % 2]!,
            client_id: null,
            action,
            kind: action.split('.')[0]!,
            subject_id: null,
            subject_name: `s${at % 5}`,
            before: null,
            after: null,
          })
          .execute()
      }
    })
    after(() => server.close())
    const at = ({ at: ms }: ListedAudit) => (ms - start) / 1000

    test('is newest first, in pages without gaps or repetitions', async () => {
      const seen: number[] = []
      let cursor: string | undefined
      do {
        const page = await listHostAudit(host, { cursor, limit: 7 })
        assert.ok(page.entry.length <= 7)
        seen.push(...page.entry.map(at))
        cursor = page.next
      } while (cursor !== undefined)
      assert.deepEqual(
        seen,
        Array.from({ length: 60 }, (_, index) => 59 - index),
      )
      const { next } = await listHostAudit(host, { limit: 60 })
      assert.equal(next, undefined)
    })

    test('is filtered by user, action, kind, subject and time', async () => {
      const list = async (filter: object) => (await listHostAudit(host, { limit: 100, ...filter })).entry
      assert.equal((await list({ user: 'ann' })).length, 30)
      assert.equal((await list({ user: 'root' })).length, 0)
      assert.equal((await list({ user: '11111111-1111-4111-8111-111111111111' })).length, 0)
      assert.equal((await list({ action: 'user.scopes' })).length, 20)
      assert.equal((await list({ action: 'user' })).length, 40)
      assert.equal((await list({ action: 'use' })).length, 0)
      assert.equal((await list({ subject: 's2', action: 'client' })).length, 4)
      assert.deepEqual((await list({ since: { atMs: start + 57_000 } })).map(at), [59, 58, 57])
      assert.deepEqual(
        (await list({ user: 'bob', action: 'client', since: { atMs: start + 40_000 } })).map(at),
        [59, 53, 47, 41],
      )
    })

    test('rejects a cursor that is not its own', async () => {
      const made = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')
      const wrong = [
        '',
        'x',
        made([]),
        made(['id desc']),
        made(['id asc', 'aud_1']),
        made(['id desc', {}]),
        made(['id desc', 1e300]),
      ]
      for (const cursor of wrong) {
        await assert.rejects(
          listHostAudit(host, { cursor, limit: 1 }),
          { code: 'WP_STORE_CURSOR', status: 400 },
          cursor,
        )
      }
    })

    test('reads every filter from an index', async () => {
      const plans = {
        'id < $': 'waypost_audit_pkey',
        "user_name = 'ann' and id < $": 'waypost_audit_user_index',
        "action = 'user.add' and id < $": 'waypost_audit_action_index',
        "subject_name = 's1' and id < $": 'waypost_audit_subject_name_index',
      }
      for (const [where, index] of Object.entries(plans)) {
        const query = `select * from waypost_audit where ${where.replace('$', `'${sortedIdPrefix('aud_', start + 30_000)}'`)} order by id desc limit 10`
        const plan = await explain(query)
        const wanted =
          kind === 'sqlite' ? index.replace('waypost_audit_pkey', 'sqlite_autoindex_waypost_audit_1') : index
        assert.ok(plan.includes(wanted), `${query}\n${plan}`)
        assert.doesNotMatch(plan, /Sort|TEMP B-TREE|Seq Scan/, plan)
      }
    })

    async function explain(query: string): Promise<string> {
      if (kind === 'sqlite') {
        const { rows: steps } = await sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(
          host.system.db,
        )
        return steps.map(({ detail }) => detail).join('\n')
      }
      // Tables of tests are too small for an index to be worth it.
      return host.system.db.transaction().execute(async (trx) => {
        await sql`set local enable_seqscan = off`.execute(trx)
        await sql`set local enable_bitmapscan = off`.execute(trx)
        const { rows: lines } = await sql<{ 'QUERY PLAN': string }>`explain ${sql.raw(query)}`.execute(trx)
        return lines.map((line) => line['QUERY PLAN']).join('\n')
      })
    }
  })
}
