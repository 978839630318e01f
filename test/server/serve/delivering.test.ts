import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../../../src/auth/index.ts'
import { replaceFact } from '../../../src/store/index.ts'
import { until } from '../../support/until.ts'
import { openServeSite, versionFiles } from './site.ts'

const withEvent = versionFiles('one', { more: 'event:\n  created: { description: Made, scopes: [consumer] }\n' })

test('a server warns while deliveries are due and no worker runs, and stops when one does', async () => {
  await using site = await openServeSite()
  const { system } = site.host
  await site.deploy(withEvent)
  const dispatch = (id: string) =>
    system.db
      .insertInto('waypost_message')
      .values({ id, event: 'created', data: '{}', created_at: system.now() })
      .execute()
  await dispatch('m0') // there are no subscribers
  const server = await site.start({ warnMs: 20 })
  const warnings = () => server.logs.filter(({ msg }) => /no worker is running/.test(msg))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(warnings().length, 0, 'nothing is due')
  const { id: user } = await addUser(system, { name: 'ann', scopes: ['consumer'] })
  const subscription = { id: 's1', user_id: user, event: 'created', endpoint: 'https://e.example', secret: '' }
  await system.db
    .insertInto('waypost_subscription')
    .values({ ...subscription, status: 'active', revision: 1, created_at: system.now() })
    .execute()
  await dispatch('m1')
  await until('a second warning', () => warnings().length > 1)
  assert.match(warnings()[0]!.msg, /^1 delivery waiting, but no worker is running: run waypost event:execute from cron/)
  assert.equal(warnings()[0]!.level, 40)
  assert.equal(warnings()[0]!['lastExecuted'], null)
  await replaceFact(system, 'last_execute', String(Date.now()))
  const known = warnings().length
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.ok(warnings().length <= known + 1, 'one look may have been under way')
})

test('serve --cron delivers due events, records that it does, and stops gracefully', async () => {
  await using site = await openServeSite()
  const { db, now } = site.host.system
  await site.deploy(withEvent)
  const server = await site.start({ cron: true })
  await db.insertInto('waypost_message').values({ id: 'm1', event: 'created', data: '{}', created_at: now() }).execute()
  const fannedOut = async () =>
    (await db.selectFrom('waypost_message').select('fanned_out_at').executeTakeFirst())?.fanned_out_at
  await until('the fan-out', async () => typeof (await fannedOut()) === 'number')
  const noted = () => db.selectFrom('waypost_system').selectAll().where('name', '=', 'last_execute').executeTakeFirst()
  await until('the note', async () => (await noted()) !== undefined)
  await server.close()
  assert.ok(!server.logs.some(({ level }) => level >= 50))
})
