import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findUser, hasAdministrator, loadUserScopes, makeFirstRunCode, setUserStatus } from '../../../src/auth/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { issuer, type TestAnswer } from '../../support/server.ts'
import { openWorld, type World } from '../world.ts'
import { makeVisitor, readPage, type Visitor } from './visitor.ts'

const path = 'GET /authorization/first-run'
const password = 'a first password'

for (const kind of chooseKinds('sqlite')) {
  describe(`the first administrator on ${kind}`, () => {
    const setUp = async (visitor: Visitor, fields: Readonly<Record<string, string>>) =>
      follow(
        visitor,
        await visitor.submit(await visitor.send(path), 'first-run', { username: 'root', password, ...fields }),
      )
    /** A refused form leads back to its page. */
    const follow = async (visitor: Visitor, answer: TestAnswer) =>
      answer.headers.get('location') === '/authorization/first-run' ? visitor.follow(answer) : answer
    const makeCode = async ({ host }: World) => (await makeFirstRunCode(host)) ?? ''

    test('is created once with the code, in any spelling, and is signed in', async () => {
      await using world = await openWorld(kind)
      const code = await makeCode(world)
      assert.match(code, /^([0-9A-Z]{4}-){6}[0-9A-Z]{4}$/)
      const visitor = makeVisitor(world)
      const wrong = await setUp(visitor, { code: code.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) })
      assert.equal(wrong.status, 403)
      assert.match(readPage(wrong), /The code is not valid or has expired\. To get a new code, restart the server/)
      assert.match(wrong.text, /name="code"[^>]*value="[0-9A-Z-]{34}"/)
      const weak = await setUp(visitor, { code, password: 'short' })
      assert.equal(weak.status, 400)
      assert.equal(await hasAdministrator(world.system), false)
      const another = makeVisitor(world)
      const [page, itsPage] = [await visitor.send(path), await another.send(path)]
      const spelled = code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')
      const [first, second] = await Promise.all([
        visitor.submit(page, 'first-run', { code: spelled, username: 'root', password }),
        another.submit(itsPage, 'first-run', { code, username: 'other', password }),
      ]).then(async (answers) => [await follow(visitor, answers[0]), await follow(another, answers[1])] as const)
      assert.deepEqual(new Set([first.status, second.status]), new Set([303, 403]))
      const done = first.status === 303 ? first : second
      assert.equal(done.headers.get('location'), `${issuer}/backend/ui/`)
      const name = first.status === 303 ? 'root' : 'other'
      const { id } = await findUser(world.system, name)
      const scopes = await loadUserScopes(world.system.db, id)
      assert.ok(scopes.includes('backend.admin') && scopes.includes('consumer'))
      const [audited] = await world.system.db.selectFrom('waypost_audit').selectAll().execute()
      assert.deepEqual([audited?.action, audited?.user_name, audited?.subject_name], ['user.add', name, name])
      assert.equal((await visitor.send(path)).headers.get('location'), `${issuer}/backend/ui/`)
      assert.equal(await makeFirstRunCode(world.host), undefined)
    })

    test('needs the newest code, which expires after an hour', async () => {
      await using world = await openWorld(kind)
      const visitor = makeVisitor(world)
      const [old, code] = [await makeCode(world), await makeCode(world)]
      assert.equal((await setUp(visitor, { code: old })).status, 403)
      world.clock.forward(3_600_000)
      assert.equal((await setUp(visitor, { code })).status, 403)
      assert.equal((await setUp(visitor, { code: await makeCode(world) })).status, 303)
    })

    test('can be created again if no administrator is active, but not after too many attempts', async () => {
      await using world = await openWorld(kind)
      const visitor = makeVisitor(world)
      assert.equal((await setUp(visitor, { code: await makeCode(world) })).status, 303)
      const { id } = await findUser(world.system, 'root')
      await setUserStatus(world.system, { id, status: 'disabled', now: world.clock.now() })
      const code = await makeCode(world)
      const page = await visitor.send(path)
      const attempt = async (fields: Readonly<Record<string, string>>) =>
        follow(visitor, await visitor.submit(page, 'first-run', fields))
      let last = await attempt({ code: 'x', username: 'next', password })
      for (let count = 0; count < 100 && last.status === 403; count++)
        last = await attempt({ code: 'x', username: 'next', password })
      assert.equal(last.status, 429)
      assert.equal((await attempt({ code, username: 'next', password })).status, 429)
      world.clock.forward(3_600_000)
      assert.equal((await setUp(visitor, { code: await makeCode(world), username: 'next' })).status, 303)
    })
  })
}
