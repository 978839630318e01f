import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addUser } from '../../../src/auth/index.ts'
import { sign } from '../../../src/auth/authorize/cookies.ts'
import { hashPassword } from '../../../src/auth/account/passwords.ts'
import { sha256 } from '../../../src/kit/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { openWorld, password, setStatus, type Credentials, type World } from '../world.ts'
import {
  callback,
  makeVisitor,
  readAnswer,
  readCode,
  readHidden,
  readPage,
  requestOf,
  type Visitor,
  writeQuery,
} from './visitor.ts'

const day = 86_400_000
const sessionCookie = '__Host-waypost-session'
const formCookie = '__Host-waypost-form'
const noticeCookie = '__Secure-waypost-notice'

for (const kind of chooseKinds('sqlite')) {
  describe(`a login on the pages on ${kind}`, () => {
    let world: World
    let client: Credentials
    let users = 0
    before(async () => {
      world = await openWorld(kind)
      client = await world.addClient({ name: 'Shop', grants: ['authorization_code'], redirectUris: [callback] })
    })
    after(() => world.close())

    // The client is ann's own, so there is no consent page.
    let visitor: Visitor
    beforeEach(() => (visitor = makeVisitor(world)))
    const ask = (change = {}) => visitor.authorize(requestOf(client, change))
    const isLoggedIn = async (who = visitor) =>
      (await who.authorize(requestOf(client, { prompt: 'none' }))).headers.get('location')?.includes('code=') === true
    const addSomebody = async () => {
      const { id, name } = await addUser(world.system, { name: `user${++users}`, password, scopes: ['todo'] })
      return { id, name }
    }

    test('leads by 303 to the request, and from there to the client with a code', async () => {
      const page = await ask()
      assert.equal(page.status, 200)
      assert.match(readPage(page), /Sign in .* Shop/)
      const answer = await visitor.submit(page, 'login', { username: 'ann', password })
      assert.equal(answer.status, 303)
      assert.match(answer.headers.get('location') ?? '', /^\/authorization\/authorize\?/)
      const next = await visitor.send(`GET ${answer.headers.get('location')}`)
      assert.deepEqual(Object.keys(readAnswer(next).parameters).sort(), ['code', 'iss', 'state'])
      readCode(next)
      readCode(await ask())
    })

    test('ignores blanks around the name', async () => {
      const answer = await visitor.submit(await ask(), 'login', { username: ' ann ', password })
      assert.equal(answer.status, 303)
      assert.ok(visitor.cookies.has(sessionCookie))
    })

    const wrong: readonly (readonly [name: string, fields: Record<string, string>, status: number])[] = [
      ['a wrong password', { username: 'ann', password: 'quite another one' }, 401],
      ['an unknown name', { username: 'nobody', password }, 401],
      ['an impossible name', { username: 'a\0b', password }, 401],
      ['a name that is too long', { username: 'a'.repeat(65), password }, 401],
      ['no password', { username: 'ann', password: '' }, 400],
      ['no name', { username: '', password }, 400],
      ['a blank name', { username: '  ', password }, 400],
      ['nothing', {}, 400],
    ]
    for (const [name, fields, status] of wrong) {
      test(`fails for ${name}: the page is shown again, and no session begins`, async () => {
        const answer = await visitor.follow(await visitor.submit(await ask(), 'login', fields))
        assert.equal(answer.status, status)
        assert.match(readPage(answer), /Wrong username or password\.|Enter a username and a password\./)
        assert.equal(visitor.cookies.has(sessionCookie), false)
        if (name === 'a wrong password') readCode(await visitor.logIn(answer))
      })
    }

    test('fails by 303 to the same request, whose page says once why; nothing of it is in an address', async () => {
      const page = await ask()
      const answer = await visitor.submit(page, 'login', { username: 'An <n>', password: 'my wrong password' })
      const location = `/authorization/authorize?${writeQuery(requestOf(client))}`
      assert.deepEqual([answer.status, answer.headers.get('location'), answer.text], [303, location, ''])
      const [line = ''] = answer.headers.getSetCookie()
      assert.match(
        line,
        /^__Secure-waypost-notice=[\w.-]+; Max-Age=60; Path=\/authorization; HttpOnly; Secure; SameSite=Lax$/,
      )
      assert.doesNotMatch(Buffer.from(line.split(/[=.]/)[1]!, 'base64url').toString(), /my|Wrong/)
      // Another request, in another tab, leaves it alone.
      const another = await ask({ state: 'y' })
      assert.deepEqual([another.status, /Wrong/.test(readPage(another))], [200, false])
      const failed = await visitor.follow(answer)
      assert.deepEqual([failed.status, /Wrong username or password\./.test(readPage(failed))], [401, true])
      assert.match(failed.text, /value="An &lt;n&gt;"/)
      assert.equal(visitor.cookies.has(noticeCookie), false)
      const again = await visitor.follow(answer)
      assert.deepEqual([again.status, /Wrong|An </.test(readPage(again))], [200, false])
    })

    test('shows no message that it did not make itself', async () => {
      const answer = await visitor.submit(await ask(), 'login', { username: 'ann', password: 'wrong password' })
      const [content = '', signature = ''] = visitor.cookies.get(noticeCookie)!.split('.')
      const forgeries = [`${content}.`, `${content.slice(1)}.${signature}`, content, '', '.', `.${signature}`]
      // Scripts of a project can choose the form cookie of a browser that has none, and then sign.
      const key = visitor.cookies.get(formCookie)!
      for (const text of ['error=Call+0900', 'error=__proto__', 'error=WP_AUTH_TOKEN', '%', '']) {
        const forged = Buffer.from(text).toString('base64url')
        forgeries.push(`${forged}.${sign(key, `notice authorize ${writeQuery(requestOf(client))} ${forged}`)}`)
      }
      for (const forged of forgeries) {
        visitor.cookies.set(noticeCookie, forged)
        const page = await visitor.follow(answer)
        assert.deepEqual([page.status, page.text.includes('role="alert"')], [200, false], forged)
      }
      visitor.cookies.set(noticeCookie, `${content}.${signature}`)
      visitor.cookies.set(formCookie, 'a'.repeat(43))
      assert.equal((await visitor.follow(answer)).status, 200)
    })

    test('that fails does not continue with a session that began meanwhile, and leaves it alone', async () => {
      const page = await ask()
      await visitor.logIn(page)
      const failed = await visitor.follow(
        await visitor.submit(page, 'login', { username: 'bob', password: 'wrong password' }),
      )
      assert.equal(failed.status, 401)
      assert.match(readPage(failed), /Wrong username or password/)
      assert.equal(await isLoggedIn(), true)
    })

    test('fails for the longest password there is with one character more', async () => {
      const longest = 'pq'.repeat(512)
      await addUser(world.system, { name: 'long', password: longest, scopes: ['todo'] })
      const page = await ask()
      const attempt = (text: string) => visitor.submit(page, 'login', { username: 'long', password: text })
      assert.equal((await visitor.follow(await attempt(`${longest}x`))).status, 401)
      await attempt(longest)
      assert.ok(visitor.cookies.has(sessionCookie))
    })

    test('fails for a disabled user, in the same words', async () => {
      const { id, name } = await addSomebody()
      await setStatus(world.system, 'user', { id, status: 'disabled' })
      const answer = await visitor.follow(await visitor.submit(await ask(), 'login', { username: name, password }))
      assert.equal(answer.status, 401)
      assert.match(readPage(answer), /Wrong username or password/)
    })

    test('sets a cookie that scripts cannot read and other sites cannot send, and stores only its hash', async () => {
      const page = await ask()
      const answer = await visitor.submit(page, 'login', { username: 'ann', password })
      const [line = ''] = answer.headers.getSetCookie()
      assert.match(line, /^__Host-waypost-session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
      const rows = await world.system.db.selectFrom('waypost_session').selectAll().execute()
      const value = visitor.cookies.get(sessionCookie) ?? ''
      assert.ok(rows.some((row) => row.hash === sha256(value)))
      assert.ok(!JSON.stringify(rows).includes(value))
      const [form = ''] = page.headers.getSetCookie()
      assert.match(form, /^__Host-waypost-form=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    })

    test('begins a new session each time: a session id known to someone else is not reused', async () => {
      visitor.cookies.set(sessionCookie, 'a'.repeat(43))
      await visitor.logIn(await ask())
      const first = visitor.cookies.get(sessionCookie)!
      assert.notEqual(first, 'a'.repeat(43))
      await visitor.logIn(await ask({ prompt: 'login' }))
      assert.notEqual(visitor.cookies.get(sessionCookie), first)
      const old = makeVisitor(world)
      old.cookies.set(sessionCookie, first)
      assert.equal(await isLoggedIn(old), false)
      assert.equal(await isLoggedIn(), true)
    })

    const forged: readonly (readonly [name: string, forge: (fields: Record<string, string>) => unknown])[] = [
      ['without a token', (fields) => delete fields['csrf']],
      ['with an empty token', (fields) => (fields['csrf'] = '')],
      ['with another token', (fields) => (fields['csrf'] = `${'a'.repeat(43)}.${'a'.repeat(43)}`)],
      ["with another browser's token", async (fields) => Object.assign(fields, await hiddenOfAnother())],
      ['without the cookie', () => visitor.cookies.delete(formCookie)],
      ['with another cookie', () => visitor.cookies.set(formCookie, 'a'.repeat(43))],
      ['with an invalid cookie', () => visitor.cookies.set(formCookie, 'a')],
    ]
    const hiddenOfAnother = async () => {
      const other = await makeVisitor(world).authorize(requestOf(client))
      return { csrf: readHidden(other, 'login')['csrf']! }
    }
    for (const [name, forge] of forged) {
      test(`is rejected ${name}`, async () => {
        const fields = { ...readHidden(await ask(), 'login'), username: 'ann', password }
        await forge(fields)
        const answer = await visitor.send('POST /authorization/login', fields)
        assert.equal(answer.status, 403)
        assert.match(readPage(answer), /has expired .* cookies/)
        assert.equal(visitor.cookies.has(sessionCookie), false)
      })
    }

    test('checks the request again: a form that was changed leads nowhere else', async () => {
      const page = await ask()
      const elsewhere = new URLSearchParams(readHidden(page, 'login')['request'])
      elsewhere.set('redirect_uri', 'https://example.com/')
      const answer = await visitor.submit(page, 'login', { request: elsewhere.toString(), username: 'ann', password })
      assert.equal(answer.status, 400)
      assert.equal(answer.headers.get('location'), null)
      const plain = new URLSearchParams(readHidden(page, 'login')['request'])
      plain.set('code_challenge_method', 'plain')
      const back = await visitor.submit(page, 'login', { request: plain.toString(), username: 'ann', password })
      assert.deepEqual([back.status, back.headers.get('location')], [400, null])
      assert.match(readPage(back), /\(invalid_request\)/)
      assert.equal(visitor.cookies.has(sessionCookie), false)
    })

    const unreadable: readonly (readonly [name: string, form: string | undefined, status: number])[] = [
      ['a field twice', 'csrf=a&csrf=b', 400],
      ['16 KB and more', `csrf=${'a'.repeat(17_000)}`, 413],
    ]
    for (const [name, form, status] of unreadable) {
      test(`shows a page for a form with ${name}`, async () => {
        for (const action of ['login', 'consent', 'logout']) {
          const answer = await visitor.send(`POST /authorization/${action}`, form)
          assert.equal(answer.status, status)
          assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
        }
      })
    }

    test('rejects JSON with 415, and an empty form with 403', async () => {
      for (const action of ['login', 'consent', 'logout']) {
        assert.equal((await world.send(`POST /authorization/${action}`, { json: {} })).status, 415)
        assert.equal((await visitor.send(`POST /authorization/${action}`, '')).status, 403)
        assert.equal((await world.send(`POST /authorization/${action}`)).status, 403)
      }
    })

    test('expires after 7 idle days, and after 30 days in any case', async () => {
      await visitor.logIn(await ask())
      world.clock.forward(6 * day)
      assert.equal(await isLoggedIn(), true)
      world.clock.forward(6 * day)
      assert.equal(await isLoggedIn(), true)
      world.clock.forward(7 * day + 1)
      assert.equal(await isLoggedIn(), false)
      await visitor.logIn(await ask())
      for (let days = 0; days < 30; days += 5) {
        assert.equal(await isLoggedIn(), true)
        world.clock.forward(5 * day)
      }
      assert.equal(await isLoggedIn(), false)
    })

    const endings: readonly (readonly [name: string, end: (id: string) => Promise<unknown>])[] = [
      ['is disabled', (id) => setStatus(world.system, 'user', { id, status: 'disabled' })],
      [
        'has another password',
        async (id) => {
          const password_hash = await hashPassword(world.system, { name: 'ann', password: 'another password' })
          await world.system.db.updateTable('waypost_user').set({ password_hash }).where('id', '=', id).execute()
        },
      ],
      ['is gone', (id) => world.system.db.deleteFrom('waypost_user').where('id', '=', id).execute()],
    ]
    for (const [name, end] of endings) {
      test(`ends as soon as its user ${name}`, async () => {
        const { id, name: username } = await addSomebody()
        await visitor.logIn(await ask(), { username })
        assert.equal((await ask()).text.includes(username), true)
        await end(id)
        assert.match(readPage(await ask()), /Sign in/)
      })
    }

    test('counts on another server of the same System', async () => {
      await visitor.logIn(await ask())
      const second = await world.startSecond()
      try {
        const other = makeVisitor(second)
        other.cookies.set(sessionCookie, visitor.cookies.get(sessionCookie)!)
        readCode(await other.authorize(requestOf(client)))
      } finally {
        await second.close()
      }
    })

    test('is required again by prompt=login and select_account, once, with the reason', async () => {
      await visitor.logIn(await ask())
      for (const prompt of ['login', 'select_account', 'login select_account']) {
        const page = await ask({ prompt })
        assert.match(readPage(page), /Shop requires you to enter your password again/)
        assert.match(page.text, /value="ann"/)
        const wrong = { username: 'ann', password: 'wrong password' }
        const failed = await visitor.follow(await visitor.submit(page, 'login', wrong))
        assert.match(readPage(failed), /Shop requires you to enter your password again.* Wrong username or password/)
        readCode(await visitor.logIn(failed))
      }
      const escaped = await visitor.send(
        `GET /authorization/authorize?${new URLSearchParams(requestOf(client) as Record<string, string>).toString()}&prompt=lo%67in`,
      )
      readCode(await visitor.logIn(escaped))
    })

    test('is required again when it is older than max_age', async () => {
      await visitor.logIn(await ask())
      readCode(await ask({ max_age: '60' }))
      world.clock.forward(61_000)
      assert.equal(readAnswer(await ask({ max_age: '60', prompt: 'none' })).parameters['error'], 'login_required')
      readCode(await visitor.logIn(await ask({ max_age: '60' })))
      readCode(await visitor.logIn(await ask({ max_age: '0', prompt: 'login' })))
    })

    test('does not loop: each required step happens once', async () => {
      const page = await ask({ max_age: '0', prompt: 'login consent' })
      const consent = await visitor.logIn(page)
      assert.match(readPage(consent), /Allow Shop/)
      readCode(await visitor.submit(consent, 'consent', { decision: 'allow' }))
    })

    test('ends with a logout, and the request continues with another user', async () => {
      const { name: username } = await addSomebody()
      const consent = await visitor.logIn(await ask(), { username })
      const before = visitor.cookies.get(sessionCookie)!
      const answer = await visitor.submit(consent, 'logout')
      assert.equal(answer.status, 303)
      assert.equal(visitor.cookies.has(sessionCookie), false)
      readCode(await visitor.logIn(await visitor.send(`GET ${answer.headers.get('location')}`)))
      visitor.cookies.set(sessionCookie, before)
      assert.equal(await isLoggedIn(), false)
    })

    test('is not ended by a form of another site', async () => {
      const { name: username } = await addSomebody()
      const consent = await visitor.logIn(await ask(), { username })
      const forgedToken = readHidden(await makeVisitor(world).authorize(requestOf(client)), 'login')['csrf']!
      assert.equal((await visitor.submit(consent, 'logout', { csrf: forgedToken })).status, 403)
      assert.match(readPage(await ask()), /Allow Shop/)
    })

    test('is throttled as every other: 429 with Retry-After on the page, the same for unknown names', async () => {
      const { name } = await addSomebody()
      for (const username of [name, 'nobody-at-all']) {
        const page = await ask()
        const statuses: number[] = []
        const attempt = async (text: string) =>
          visitor.follow(await visitor.submit(page, 'login', { username, password: text }))
        for (let count = 0; count < 10; count++) statuses.push((await attempt('not the right one')).status)
        assert.deepEqual(new Set(statuses), new Set([401]))
        const answer = await attempt(password)
        assert.equal(answer.status, 429)
        assert.ok(Number(answer.headers.get('retry-after')) > 0)
        assert.match(readPage(answer), /Too many login attempts\. Try again in \d+ minutes\./)
        const login = await world.send('POST /consumer/login', { json: { username, password } })
        assert.equal(login.status, 429)
      }
    })
  })
}
