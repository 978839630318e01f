// A server that freezes (SIGSTOP) while callers ask it for tokens, give up, and ask another server of the same System.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openWorld, password, type Credentials, type World } from '../auth/world.ts'
import { callback, obtainCode, requestOf, verifier } from '../auth/authorize/visitor.ts'
import { freeze, isFrozen } from '../support/freeze.ts'
import { send } from '../support/send.ts'
import { basic, bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import type { Order } from './mortal-server.ts'
import { chooseKinds, longDescribe } from '../support/forms.ts'

for (const kind of chooseKinds('postgresql')) {
  describe(`a server that is frozen, on ${kind}`, () => {
    let world: World
    let child: ChildProcess
    let port: number
    before(async () => {
      world = await openWorld(kind)
      ;({ child, port } = await startServer(world, { refresh_grace: '2s' }))
    })
    after(async () => {
      await end(child)
      await world.close()
    })

    const begin = async () => (await world.token(world.app, { grant_type: 'client_credentials' })).body.refresh_token
    const refresh = async (token: string): Promise<string> => {
      const { status, text, body } = await world.token(world.app, refreshForm(token))
      assert.equal(status, 200, text)
      return body.refresh_token
    }
    const askChild = (form: Readonly<Record<string, string>>) => sendForm(port, world.app, form)
    /** Lets it go on, until what it read before has been processed. */
    const wake = async () => {
      child.kill('SIGCONT')
      const other = await begin()
      await until('it answers', async () => (await askChild(refreshForm(other))).status === 200)
    }
    const leave = (socket: Socket) => void socket.destroy()

    test('ignores a refresh whose caller has disconnected', async () => {
      const first = await begin()
      await freeze(world.system, child.pid!)
      leave(await post(port, world.app, refreshForm(first)))
      const second = await refresh(first)
      const third = await refresh(second)
      await wake()
      await refresh(third)
    })

    test('ignores a refresh that it had begun when its caller disconnected', async () => {
      const first = await begin()
      const armed = once(child, 'message')
      child.send({ stopAt: '^begin' } satisfies Order)
      await armed
      const socket = await post(port, world.app, refreshForm(first))
      await until('it is frozen', () => isFrozen(child.pid!))
      leave(socket)
      await pause(200) // a caller has to wait for some time before it leaves
      const third = await refresh(await refresh(first))
      await wake()
      await refresh(third)
    })

    test('ignores a code whose caller has disconnected', async () => {
      const site = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const code = await obtainCode(world, requestOf(site))
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
      await freeze(world.system, child.pid!)
      leave(await post(port, site, form))
      const { body } = await world.token(site, form)
      await wake()
      assert.equal((await world.send('GET /any', { headers: bearer(body.access_token) })).status, 200)
    })

    test('rejects a refresh that waited longer than refresh_grace and does not change its token', async () => {
      const login = await world.logIn({ json: { username: 'ann', password } })
      const renewal = renewalOf(login.body.refresh_token)
      const first = await begin()
      await freeze(world.system, child.pid!)
      const late = [askChild(refreshForm(first)), send(port, renewal)]
      await pause(3500)
      child.kill('SIGCONT')
      for (const answer of await Promise.all(late)) {
        assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1'], answer.text)
      }
      await until('it serves again', async () => (await send(port, renewal)).status === 200)
      assert.equal((await askChild(refreshForm(first))).status, 200)
    })
  })
}

for (const kind of chooseKinds('postgresql')) {
  // The callers reach it through a proxy, which keeps the connection when they give up. In CI, the tests above reject what
  // waited too long, and auth/refresh.test.ts has the grace and the reuse behind it.
  longDescribe(`a server behind a proxy that stands still, on ${kind}`, () => {
    let world: World
    let child: ChildProcess
    let port: number
    before(async () => {
      world = await openWorld(kind)
      ;({ child, port } = await startServer(world, {}))
    })
    after(async () => {
      await end(child)
      await world.close()
    })

    for (const seconds of [2, 5, 8, 12]) {
      // the last is longer than refresh_grace
      test(`revokes nothing after ${seconds} s when callers repeated their requests elsewhere`, async () => {
        const site = await world.addClient({
          grants: ['authorization_code', 'refresh_token'],
          redirectUris: [callback],
        })
        const code = await obtainCode(world, requestOf(site))
        const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
        const app = (await world.token(world.app, { grant_type: 'client_credentials' })).body
        const login = (await world.logIn()).body
        await freeze(world.system, child.pid!)
        const startedAt = performance.now()
        const late = [
          sendForm(port, world.app, refreshForm(app.refresh_token)),
          sendForm(port, site, exchange),
          send(port, renewalOf(login.refresh_token)),
        ]
        await pause(1000)
        const refreshTwice = async (client: Credentials, token: string): Promise<string> => {
          const first = (await world.token(client, refreshForm(token))).body
          return (await world.token(client, refreshForm(first.refresh_token))).body.refresh_token
        }
        const exchanged = (await world.token(site, exchange)).body
        const next = {
          app: await refreshTwice(world.app, app.refresh_token),
          site: await refreshTwice(site, exchanged.refresh_token),
          login: await renewTwice(world, login.refresh_token),
        }
        await pause(seconds * 1000 - (performance.now() - startedAt))
        child.kill('SIGCONT')
        for (const answer of await Promise.all(late)) {
          assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1'], answer.text)
        }
        for (const [client, token] of [
          [world.app, next.app],
          [site, next.site],
        ] as const) {
          const { status, text } = await world.token(client, refreshForm(token))
          assert.equal(status, 200, text)
        }
        const renewed = await world.send('PUT /consumer/login', { json: { refresh_token: next.login } })
        assert.equal(renewed.status, 200, renewed.text)
      })
    }

    test('detects a reuse again a few seconds later', async () => {
      const { refresh_token: first } = (await world.token(world.app, { grant_type: 'client_credentials' })).body
      await freeze(world.system, child.pid!)
      await pause(1500)
      child.kill('SIGCONT')
      const { refresh_token: second } = (await world.token(world.app, refreshForm(first))).body
      const { refresh_token: third } = (await world.token(world.app, refreshForm(second))).body
      await until('it rejects the reuse', async () => {
        const { status } = await sendForm(port, world.app, refreshForm(first))
        return status === 400
      })
      assert.equal((await world.token(world.app, refreshForm(third))).status, 400)
    })
  })
}

async function startServer(world: World, config: Readonly<Record<string, unknown>>) {
  const child = fork(path.join(import.meta.dirname, 'mortal-server.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const { folder, variables } = world.host
  child.send({ folder, variables, config } satisfies Order)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function refreshForm(token: string) {
  return { grant_type: 'refresh_token', refresh_token: token }
}

function renewalOf(token: string) {
  return { method: 'PUT', path: '/consumer/login', body: { refresh_token: token } }
}

async function renewTwice(world: World, token: string): Promise<string> {
  const renew = (one: string) => world.send('PUT /consumer/login', { json: { refresh_token: one } })
  return (await renew((await renew(token)).body.refresh_token)).body.refresh_token
}

function sendForm(port: number, app: Credentials, form: Readonly<Record<string, string>>) {
  return send(port, {
    method: 'POST',
    path: '/authorization/token',
    headers: { ...basic(app.id, app.secret), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
}

/** Sends a request whose answer nobody reads; the system has it, whether the server runs or not. */
async function post(port: number, app: Credentials, form: Readonly<Record<string, string>>): Promise<Socket> {
  const body = new URLSearchParams(form).toString()
  const lines = [
    'POST /authorization/token HTTP/1.1',
    'host: localhost',
    `authorization: ${basic(app.id, app.secret).authorization}`,
    'content-type: application/x-www-form-urlencoded',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined) // it is closed without a word
  await new Promise((resolve) => void socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, resolve))
  return socket
}
