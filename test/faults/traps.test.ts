// What could make a server go on by what it knew before, each by itself, in processes as operators run them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { revokeTokens } from '../../src/auth/index.ts'
import { recordChanges } from '../../src/store/index.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { assertRefused, hammer } from './hammer.ts'
import { startThreeServers, type ThreeServers, type Token } from './three-servers.ts'
import { isLong, longTest } from '../support/forms.ts'

describe('three servers, and', { concurrency: 1 }, () => {
  let world: ThreeServers
  before(async () => {
    world = await startThreeServers()
  })
  after(() => world.close())

  const everywhere = (token: Token) => world.servers.map(({ port }) => hammer(port, token.headers))
  const statuses = (token: Token) =>
    Promise.all(world.servers.map(async ({ port }) => (await world.ask(port, token)).status))
  const untilRefused = async (tokens: readonly Token[]) => {
    for (const token of tokens) {
      await until('every server refuses it', async () => (await statuses(token)).every((status) => status === 401))
    }
  }
  /** Revokes as a command does, beside the servers. */
  const revoke = ({ jti }: Token) => revokeTokens(world.system, { jti }, Date.now())
  const signal = (server: number, name: 'SIGSTOP' | 'SIGCONT') => process.kill(world.servers[server]!.pid, name)

  /** Waits until every server follows the feed. */
  const allFollow = () =>
    until('every server follows the feed', async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and query like '%from waypost_feed_head h%' and pid <> pg_backend_pid()`.execute(
        world.system.db,
      )
      return rows.length === 3
    })

  test('changes that commit in another order than they began', async () => {
    const tokens = await Promise.all(Array.from({ length: 40 }, () => world.issueKnown()))
    await Promise.all(
      tokens.map(({ jti }, index) =>
        world.system.transaction(async (trx) => {
          await trx.updateTable('waypost_token').set({ revoked_at: 1 }).where('jti', '=', jti).execute()
          await pause((index * 37) % 200) // the later ones often end first
          await recordChanges(world.system, trx, [{ kind: 'token', subject: jti }])
          await pause(2) // the position is given out, and nobody else sees it yet
        }),
      ),
    )
    await untilRefused(tokens)
  })

  test('a token that is used for the first time while another server revokes it', async () => {
    const tokens: Token[] = []
    for (let round = 0; round < (isLong ? 60 : 4); round++) {
      const token = await world.issue()
      const [revoking, first, third] = [world.servers[1].port, world.servers[0].port, world.servers[2].port]
      await Promise.all([
        ...[0, 1, 2].map(() => world.ask(first, token)),
        world.revoke(revoking, token.jwt),
        ...[0, 1, 2].map(() => world.ask(third, token)),
        world.ask(revoking, token),
      ])
      assert.equal((await world.ask(revoking, token)).status, 401, 'at once where it was revoked')
      tokens.push(token)
    }
    await untilRefused(tokens)
  })

  for (const pruned of [false, true]) {
    const name = pruned ? 'changes that were pruned while one of them stood still' : 'one that stood still for 3 s'
    const skip = !isLong && !pruned && 'the next one stands still too'
    test(name, { skip }, async () => {
      const [before, meanwhile, untouched] = [
        await world.issueKnown(),
        await world.issueKnown(),
        await world.issueKnown(),
      ]
      const reading = hammer(world.servers[1].port, meanwhile.headers) // reads are under way when it is stopped
      const revoking = revoke(before)
      signal(1, 'SIGSTOP')
      await revoking
      await revoke(meanwhile)
      if (pruned) {
        await sql`delete from waypost_feed`.execute(world.system.db)
        await revoke(await world.issue())
      }
      await pause(3000)
      const waiting = [before, meanwhile].map((token) => world.ask(world.servers[1].port, token))
      await pause(50) // they lie before its door
      signal(1, 'SIGCONT')
      const first = [before, meanwhile].map((token) => world.ask(world.servers[1].port, token))
      for (const answer of await Promise.all([...waiting, ...first])) assert.equal(answer.status, 401, answer.text)
      const woken = performance.now()
      await assertRefused([reading], woken)
      for (const { began, status } of reading.asked) if (began > woken) assert.equal(status, 401)
      assert.equal((await world.ask(world.servers[1].port, untouched)).status, 200)
      await pause(500) // the feed was read again
      for (const token of [before, meanwhile]) assert.deepEqual(await statuses(token), [401, 401, 401])
      assert.deepEqual(await statuses(untouched), [200, 200, 200])
    })
  }

  // In CI, auth/guard-feed.test.ts has this and the next two in its process.
  longTest('actions that hold every connection of one of them', async (t) => {
    const { port } = world.servers[0]
    const count = async () => {
      const { rows } = await sql<{ count: number }>`select cast(count(*) as int) as count from pg_stat_activity
        where state = 'idle in transaction' and datname = current_database()`.execute(world.system.db)
      return rows[0]!.count
    }
    const [known, unknown] = [await world.issueKnown(), await world.issue()]
    const held = Array.from({ length: 14 }, () => send(port, { path: '/hold' }))
    await until('they are held', async () => (await count()) === 10)
    assert.equal((await world.ask(port, unknown)).status, 200, 'a token that it has to read')
    const hammers = everywhere(known)
    await revoke(known)
    const latest = await assertRefused(hammers, performance.now())
    t.diagnostic(`let in until ${latest.join(', ')} ms after the change`)
    assert.equal(await count(), 10, 'they are held all the while')
    assert.equal((await world.ask(port, unknown)).status, 200)
    await send(port, { path: '/let-go' })
    await Promise.all(held)
  })

  // In CI, test/auth/guard-feed.test.ts cuts the line of a server.
  longTest('an interrupted connection: cached entries are used for a while, then it returns 503', async (t) => {
    const [token, revoked] = [await world.issueKnown(), await world.issueKnown()]
    const asking = hammer(world.servers[2].port, token.headers)
    const askingRevoked = hammer(world.servers[2].port, revoked.headers)
    await world.line.cut()
    const since = performance.now()
    await revoke(revoked)
    const latest = await assertRefused([asking, askingRevoked], since, [503])
    t.diagnostic(`answered from its cache until ${latest.join(', ')} ms after the cut`)
    await world.line.mend()
    await until('it is back', async () => (await world.ask(world.servers[2].port, token)).status === 200)
    assert.equal((await world.ask(world.servers[2].port, revoked)).status, 401)
  })

  longTest('a connection on which only the feed is silent: it reads the database', async (t) => {
    await allFollow()
    const [token, revoked] = [await world.issueKnown(), await world.issueKnown()]
    const asking = hammer(world.servers[2].port, revoked.headers)
    world.line.freezeWatched()
    await revoke(revoked)
    const latest = await assertRefused([asking], performance.now())
    t.diagnostic(`answered from its cache until ${latest.join(', ')} ms after the change`)
    for (let round = 0; round < 5; round++) assert.equal((await world.ask(world.servers[2].port, token)).status, 200)
    const later = await world.issueKnown()
    await revoke(later)
    assert.equal((await world.ask(world.servers[2].port, later)).status, 401, 'it caches nothing meanwhile')
    await world.line.mend()
    await allFollow()
    assert.deepEqual(await statuses(token), [200, 200, 200])
  })

  describe('a backup that is restored', () => {
    const tables = ['waypost_token', 'waypost_feed', 'waypost_feed_head']
    async function backUp(): Promise<void> {
      for (const table of tables) {
        await sql`drop table if exists ${sql.table(`kept_${table}`)}`.execute(world.system.db)
        await sql`create table ${sql.table(`kept_${table}`)} as select * from ${sql.table(table)}`.execute(
          world.system.db,
        )
      }
    }
    /** In one transaction, as `pg_restore --clean --single-transaction` does: no connection breaks. */
    const restore = () =>
      world.system.transaction(async (trx) => {
        for (const table of tables) {
          await sql`delete from ${sql.table(table)}`.execute(trx)
          await sql`insert into ${sql.table(table)} select * from ${sql.table(`kept_${table}`)}`.execute(trx)
        }
      })
    const position = async () =>
      (await world.system.db.selectFrom('waypost_feed_head').select('position').executeTakeFirstOrThrow()).position

    test('at run time: positions go back, and nothing from after the backup is used', async (t) => {
      const [old, revived] = [await world.issueKnown(), await world.issueKnown()]
      await backUp()
      await revoke(revived)
      const later = await world.issueKnown()
      const hammers = everywhere(later)
      await untilRefused([revived])
      await pause(300) // and every server has read the position that is lost
      await restore()
      const latest = await assertRefused(hammers, performance.now())
      t.diagnostic(`let in until ${latest.join(', ')} ms after the restoration`)
      assert.deepEqual(await statuses(old), [200, 200, 200])
      assert.deepEqual(await statuses(revived), [200, 200, 200], 'what System says now counts')
      await revoke(old)
      await untilRefused([old]) // the feed goes on
    })

    test('while one of them is stopped and positions exceed those it knew', async () => {
      const old = await world.issueKnown()
      await backUp()
      const lost = await world.issueKnown()
      await revoke(lost)
      const [later, other] = [await world.issueKnown(), await world.issueKnown()]
      await untilRefused([lost])
      await pause(300) // and every server has read the position that is lost
      const known = await position()
      signal(1, 'SIGSTOP')
      await restore()
      await revoke(old) // at the position that it has read already, with something else in it
      while ((await position()) <= known) await revoke(await world.issue())
      signal(1, 'SIGCONT')
      await untilRefused([old, later, other])
    })
  })
})
