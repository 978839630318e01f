import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { systemKinds } from '../support/server.ts'
import { openWorld, password, type World } from '../auth/world.ts'

for (const kind of systemKinds) {
  describe(`a request whose body arrives after its token was revoked, ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    const logIn = async () =>
      (await world.send('POST /consumer/login', { json: { username: 'ann', password } })).body.token

    /** Sends the headers and a part of the body. */
    const hold = async (line: string, token: string, json: unknown) => {
      const [method = '', path = ''] = line.split(' ')
      const body = JSON.stringify(json)
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      const sent = request(`${world.url}${path}`, { method, headers })
      sent.write(body.slice(0, 1))
      const answering = once(sent, 'response')
      return async () => {
        sent.end(body.slice(1))
        const [answer] = (await answering) as [IncomingMessage]
        return { status: answer.statusCode, body: await text(answer) }
      }
    }

    test('is rejected', async () => {
      const stolen = await logIn()
      const own = await logIn()
      const held = await Promise.all([
        hold('POST /consumer/client', stolen, { name: 'Backup', scopes: ['todo'] }),
        hold('POST /consumer/token', stolen, { scopes: ['todo'] }),
        hold('PATCH /consumer/account', stolen, { email: 'thief@example.com' }),
      ])
      await pause(200) // until the server has read the headers; if it has not, the test only proves less
      const { status } = await world.send('PUT /consumer/account/password', {
        headers: { authorization: `Bearer ${own}` },
        json: { old: password, new: 'a better horse battery' },
      })
      assert.equal(status, 204)
      for (const finish of held) assert.equal((await finish()).status, 401)
    })
  })
}
