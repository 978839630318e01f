import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { recordTokenUses } from '../../src/server/record-use.ts'
import { openWorld, type World } from '../auth/world.ts'
import { chooseKinds } from '../support/forms.ts'

/** A guard whose uses the test sets. */
function makeGuard() {
  let uses = new Map<string, number>()
  return {
    use: (jti: string, at: number) => void uses.set(jti, at),
    drainUses() {
      const taken = uses
      uses = new Map()
      return taken
    },
  }
}

for (const kind of chooseKinds('postgresql')) {
  describe(`the last use of tokens on ${kind}`, () => {
    let world: World
    let jti: string
    before(async () => {
      world = await openWorld(kind)
      jti = decodeJwt((await world.logIn()).body.token).jti!
    })
    after(() => world.close())

    const read = async (id = jti) => {
      const row = await world.system.db
        .selectFrom('waypost_token as token')
        .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
        .select(['token.used_at', 'family.used_at as family_used_at'])
        .where('token.jti', '=', id)
        .executeTakeFirstOrThrow()
      return [row.used_at, row.family_used_at]
    }
    const keep = (guard: ReturnType<typeof makeGuard>, errors: unknown[] = []) =>
      recordTokenUses({ guard, system: world.system, onError: (error) => void errors.push(error) })

    test('is written together with that of the family, and never moves back', async () => {
      const guard = makeGuard()
      const uses = keep(guard)
      guard.use(jti, 5000)
      await uses.write()
      assert.deepEqual(await read(), [5000, 5000])
      guard.use(jti, 4000)
      await uses.write()
      assert.deepEqual(await read(), [5000, 5000])
      guard.use(jti, 6000)
      await uses.stop()
      assert.deepEqual(await read(), [6000, 6000])
    })

    test('is written for many tokens at the same time, including unknown ones', async () => {
      const guard = makeGuard()
      const uses = keep(guard)
      const ids: string[] = []
      for (let count = 0; count < 5; count++) ids.push(decodeJwt((await world.logIn()).body.token).jti!)
      for (let count = 0; count < 20_000; count++) guard.use(`unknown "'; drop table ${count}`, 1)
      for (const [index, id] of ids.entries()) guard.use(id, 100 + index)
      await uses.stop()
      assert.deepEqual(
        await Promise.all(ids.map(read)),
        ids.map((_, index) => [100 + index, 100 + index]),
      )
    })

    test('written by two servers at the same time is one of the two times', async () => {
      const at = [7000, 8000]
      const writers = at.map((time) => {
        const guard = makeGuard()
        guard.use(jti, time)
        return keep(guard)
      })
      await Promise.all(writers.map((writer) => writer.stop()))
      const [token, family] = await read()
      assert.ok(at.includes(token!) && at.includes(family!), `${token} ${family}`)
    })

    test('does not wait for locked rows', { skip: kind === 'sqlite' }, async () => {
      const guard = makeGuard()
      const uses = keep(guard)
      await world.system.transaction(async (trx) => {
        for (const table of ['waypost_token', 'waypost_token_family'] as const) {
          await trx.selectFrom(table).selectAll().forUpdate().execute()
        }
        guard.use(jti, 9000)
        await uses.write()
      })
      assert.notEqual((await read())[0], 9000)
      guard.use(jti, 9500)
      await uses.stop()
      assert.deepEqual(await read(), [9500, 9500])
    })

    test('that cannot be written is reported once, and written later', async () => {
      const errors: unknown[] = []
      const guard = makeGuard()
      let isDown = true
      const { system } = world
      const broken: typeof system = {
        ...system,
        get db() {
          if (isDown) throw new Error('System is down')
          return system.db
        },
        transaction: (work) => (isDown ? Promise.reject(new Error('System is down')) : system.transaction(work)),
      }
      const uses = recordTokenUses({ guard, system: broken, onError: (error) => void errors.push(error) })
      guard.use(jti, 11_000)
      await uses.write()
      guard.use(jti, 12_000)
      await uses.write()
      assert.equal(errors.length, 1)
      isDown = false
      await uses.write()
      assert.deepEqual(await read(), [12_000, 12_000])
      isDown = true
      guard.use(jti, 13_000)
      await uses.stop()
      assert.equal(errors.length, 2)
    })
  })
}
