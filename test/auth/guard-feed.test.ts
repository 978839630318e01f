import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type KyselyPlugin } from 'kysely'
import { makeGuard, openKeyRing, revokeTokens, type Guard, type KeyRing } from '../../src/auth/index.ts'
import { makeTokenReader } from '../../src/auth/token/token-reader.ts'
import { openIdentity } from '../../src/host/index.ts'
import { startFeed, type Feed, type System } from '../../src/store/index.ts'
import { openLine, type Line } from '../support/line.ts'
import { bearer, issuer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld, type World } from './world.ts'
import { defaultKinds, isLong, longDescribe } from '../support/forms.ts'

for (const kind of defaultKinds) {
  describe(`the guard's cache on ${kind}`, () => {
    let world: World
    let keys: KeyRing
    let feed: Feed
    before(async () => {
      world = await openWorld(kind)
      world.clock.freeze() // keeps the feed fresh on slow machines
      keys = await openKeyRing(world.system, (await openIdentity(world.host)).secrets)
      feed = await startFeed(world.system, { clock: world.clock })
    })
    after(async () => {
      await feed.close()
      await world.close()
    })

    const guardOf = (system: System = world.system) => makeGuard({ system, feed, keys, issuer, clock: world.clock })
    async function issue(): Promise<{ header: string; jti: string }> {
      const { body } = await world.token(world.app, { grant_type: 'client_credentials' })
      const payload = Buffer.from(body.access_token.split('.')[1], 'base64url').toString()
      return { header: `Bearer ${body.access_token}`, jti: (JSON.parse(payload) as { jti: string }).jti }
    }
    const isCached = (guard: Guard, header: string) => {
      const answer = guard.authorize(header, [])
      if (answer instanceof Promise) answer.catch(() => undefined)
      return !(answer instanceof Promise)
    }

    test('responds without waiting after the first time', async () => {
      const guard = guardOf()
      const { header } = await issue()
      assert.equal(isCached(guard, header), false)
      await guard.authorize(header, [])
      assert.equal(isCached(guard, header), true)
      assert.throws(() => guard.authorize(header, ['other']), { code: 'WP_AUTH_SCOPE' })
      guard.close()
    })

    test('ends the watch of a token that was revoked, and of no other', async () => {
      const guard = guardOf()
      const [{ header, jti }, other] = [await issue(), await issue()]
      const ended: string[] = []
      await Promise.all([guard.authorize(header, []), guard.authorize(other.header, [])])
      guard.drainUses()
      guard.watch(header, [], () => ended.push('revoked'))
      const stop = guard.watch(other.header, [], () => ended.push('other'))
      guard.watch(other.header, ['other'], () => ended.push('scope'))
      await until('the scope is missing', () => ended.includes('scope'))
      await revokeTokens(world.system, { jti }, world.clock.now())
      await feed.catchUp()
      await until('the watch ends', () => ended.includes('revoked'))
      assert.deepEqual(ended, ['scope', 'revoked'])
      assert.equal(guard.drainUses().size, 0, 'a watch is no use of the token')
      stop()
      guard.close()
    })

    test('does not cache an entry if a revocation arrived while it was read', async () => {
      const gate = makeGate()
      const guard = guardOf({ ...world.system, guardDb: world.system.guardDb.withPlugin(gate.plugin) })
      const { header, jti } = await issue()
      const reading = guard.authorize(header, []) // has read that the token is valid, and is then delayed
      await gate.reached
      await revokeTokens(world.system, { jti }, world.clock.now())
      await feed.catchUp()
      gate.open()
      await reading
      await assert.rejects(async () => guard.authorize(header, []), { code: 'WP_AUTH_TOKEN' })
      guard.close()
    })

    test('caches an entry even if another token was revoked while it was read', async () => {
      const gate = makeGate()
      const guard = guardOf({ ...world.system, guardDb: world.system.guardDb.withPlugin(gate.plugin) })
      const [{ header }, other] = [await issue(), await issue()]
      const reading = guard.authorize(header, [])
      await gate.reached
      await revokeTokens(world.system, { jti: other.jti }, world.clock.now())
      await feed.catchUp()
      gate.open()
      await reading
      assert.equal(isCached(guard, header), true)
      guard.close()
    })

    test('reads tokens that come while others are read in one statement', async () => {
      const counter = makeCounter()
      const reader = makeTokenReader({
        ...world.system,
        guardDb: world.system.guardDb.withPlugin(counter.plugin),
      })
      const jtis = await Promise.all(Array.from({ length: 30 }, async () => (await issue()).jti))
      const found = await Promise.all(['unknown', ...jtis, ...jtis].map((jti) => reader.read(jti)))
      assert.deepEqual(
        found.map((token) => token?.scope),
        [undefined, ...jtis, ...jtis].map((jti) => jti && 'note todo'),
      )
      assert.equal(counter.count(), 3, 'two that began at once, and one for all the others')
    })

    test('misses no revocation while many tokens are read and others are revoked', async () => {
      const guard = guardOf()
      const [tokenCount, revokedCount] = isLong ? [60, 40] : [20, 12]
      const tokens = await Promise.all(Array.from({ length: tokenCount }, issue))
      const ask = async (header: string) => {
        try {
          await guard.authorize(header, [])
          return true
        } catch {
          return false
        }
      }
      const stopping = new AbortController()
      const asking = tokens.map(async ({ header }) => {
        while (!stopping.signal.aborted) {
          await ask(header)
          await nextTurn()
        }
      })
      const [revoked, kept] = [tokens.slice(0, revokedCount), tokens.slice(revokedCount)]
      for (const { header, jti } of revoked) {
        await revokeTokens(world.system, { jti }, world.clock.now())
        await feed.catchUp()
        assert.equal(await ask(header), false, 'right after this process heard of it')
      }
      stopping.abort()
      await Promise.all(asking)
      assert.deepEqual(
        await Promise.all(revoked.map(({ header }) => ask(header))),
        revoked.map(() => false),
      )
      assert.deepEqual(
        await Promise.all(kept.map(({ header }) => ask(header))),
        kept.map(() => true),
      )
      guard.close()
    })

    test('removes exactly the entries that a change affects', async () => {
      const guard = guardOf()
      const [one, two] = [await issue(), await issue()]
      await Promise.all([guard.authorize(one.header, []), guard.authorize(two.header, [])])
      await revokeTokens(world.system, { jti: one.jti }, world.clock.now())
      await feed.catchUp()
      assert.equal(isCached(guard, two.header), true)
      await assert.rejects(async () => guard.authorize(one.header, []), { code: 'WP_AUTH_TOKEN' })
      guard.close()
    })

    for (const [name, make] of [
      ['positions went back', (head: number) => head - 2],
      ['a gap shows that changes were missed', (head: number) => head + 5],
    ] as const) {
      test(`forgets everything when ${name}`, async () => {
        const guard = guardOf()
        const { header } = await issue()
        await guard.authorize(header, [])
        assert.equal(isCached(guard, header), true)
        const position = make(feed.position())
        await world.system.transaction(async (trx) => {
          await trx.updateTable('waypost_feed_head').set({ position }).execute()
          await trx.deleteFrom('waypost_feed').where('position', '>', position).execute()
        })
        await feed.catchUp()
        assert.equal(isCached(guard, header), false)
        guard.close()
      })
    }

    test('reads the database while the feed cannot be read, and does not use older entries', async () => {
      const guard = guardOf()
      const [good, bad] = [await issue(), await issue()]
      await Promise.all([guard.authorize(good.header, []), guard.authorize(bad.header, [])])
      // And the feed breaks before it learns of it:
      await revokeTokens(world.system, { jti: bad.jti }, world.clock.now())
      await sql`alter table waypost_feed_head rename to hidden`.execute(world.system.db)
      try {
        world.clock.pass(1000)
        assert.equal(feed.isFresh(), false)
        assert.equal((await guard.authorize(good.header, [])).user.name, 'ann')
        assert.equal(isCached(guard, good.header), false)
        await assert.rejects(async () => guard.authorize(bad.header, []), { code: 'WP_AUTH_TOKEN' })
      } finally {
        await sql`alter table hidden rename to waypost_feed_head`.execute(world.system.db)
      }
      await until('the feed is read', () => feed.isFresh())
      await guard.authorize(good.header, [])
      assert.equal(isCached(guard, good.header), true)
      await assert.rejects(async () => guard.authorize(bad.header, []), { code: 'WP_AUTH_TOKEN' })
      guard.close()
    })

    if (kind === 'postgresql') {
      test('returns 503 when the database does not respond in time', async () => {
        const gate = makeGate()
        const guard = guardOf({ ...world.system, guardDb: world.system.guardDb.withPlugin(gate.plugin) })
        const { header } = await issue()
        const expected = { code: 'WP_STORE_FEED_STALE', status: 503, retryAfterSeconds: 1 }
        await assert.rejects(async () => guard.authorize(header, []), expected)
        gate.open()
        guard.close()
      })
    }

    test('reads though actions hold every connection', async () => {
      const guard = guardOf()
      const { header } = await issue()
      const gate = Promise.withResolvers<void>()
      const held = Array.from({ length: 10 }, () => world.system.transaction(() => gate.promise))
      await world.system.guardDb.selectFrom('waypost_key').select('id').execute()
      assert.equal((await guard.authorize(header, [])).user.name, 'ann')
      gate.resolve()
      await Promise.all(held)
      guard.close()
    })

    test('does not verify with a key that was withdrawn while the feed was interrupted', async () => {
      let isFresh = true
      const ring = await openKeyRing(world.system, (await openIdentity(world.host)).secrets, () => isFresh)
      const { db } = world.system
      const known = await db.selectFrom('waypost_key').selectAll().executeTakeFirstOrThrow()
      const id = 'key_WITHDRAWN'
      await db
        .insertInto('waypost_key')
        .values({ ...known, id, retired_at: 1 })
        .execute()
      assert.ok(await ring.verifier(id))
      await db.deleteFrom('waypost_key').where('id', '=', id).execute()
      assert.ok(await ring.verifier(id), 'the feed would have told of it')
      isFresh = false
      assert.equal(await ring.verifier(id), undefined)
    })

    test('loads unknown keys one after another, never many at the same time', async () => {
      const counter = makeCounter()
      const system = { ...world.system, guardDb: world.system.guardDb.withPlugin(counter.plugin) }
      const ring = await openKeyRing(system, (await openIdentity(world.host)).secrets)
      const before = counter.count()
      const found = await Promise.all(Array.from({ length: 100 }, (_, index) => ring.verifier(`key_UNKNOWN${index}`)))
      assert.ok(found.every((key) => key === undefined))
      assert.ok(counter.count() - before <= 2, `${counter.count() - before} queries`)
      assert.equal(await ring.verifier('no key'), undefined)
      assert.ok(counter.count() - before <= 2, 'what cannot be a key id is looked up')
    })
  })
}

for (const how of ['cut', 'freeze'] as const) {
  // In CI, one that is frozen: server/serve/database-gone.test.ts has one that is cut.
  const declare = how === 'freeze' ? describe : longDescribe
  declare(`a server whose line to PostgreSQL is ${how}`, () => {
    let line: Line
    let world: World
    before(async () => {
      world = await openWorld('postgresql', {
        async rewriteUrl(url) {
          line = await openLine(url)
          return line.through(url)
        },
      })
    })
    after(async () => {
      await line.close() // first, because a frozen connection would never respond to being closed
      await world.close()
    })

    test('trusts its cache for a second, then returns 503 until the connection recovers', async () => {
      world.clock.freeze()
      const { body } = await world.logIn()
      const headers = bearer(body.token)
      const status = async (path = '/todo') => (await world.send(`GET ${path}`, { headers })).status
      assert.equal(await status(), 200)
      // Both connections of the guard exist, and stay as they are when the network freezes.
      await Promise.all([1, 2].map(() => sql`select pg_sleep(0.1)`.execute(world.system.guardDb)))
      await line[how]()
      assert.equal(await status(), 200)
      world.clock.pass(1000)
      assert.equal(world.server.feed.isFresh(), false)
      const answer = await world.send('GET /todo', { headers })
      assert.equal(answer.status, 503, answer.text)
      assert.equal(answer.headers.get('retry-after'), '1')
      assert.equal(answer.headers.get('content-type'), 'application/problem+json')
      await Promise.all([1, 2, 3].map(() => status())) // the guard's other connection now hangs too
      assert.equal((await world.send('GET /open')).status, 200)
      assert.equal((await world.send('GET /todo')).status, 401, 'who has no token is told so all the same')
      await line.mend()
      await until('the feed is read', () => world.server.feed.isFresh())
      await until('it is let in', async () => (await status()) === 200)
    })
  })
}

/** Delays responses of the database until it is opened. */
function makeGate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reached.resolve()
      await opened.promise
      return result
    },
  }
  return { plugin, reached: reached.promise, open: opened.resolve }
}

function makeCounter() {
  let queries = 0
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      queries++
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { plugin, count: () => queries }
}
