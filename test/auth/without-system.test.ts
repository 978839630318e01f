import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLine, type Line } from '../support/line.ts'
import { basic } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld } from './world.ts'

test('without System the endpoints of OAuth2 return 503, and work again when it is back', async () => {
  let line: Line | undefined
  const rewriteUrl = async (url: string) => {
    line ??= await openLine(url)
    return line.through(url)
  }
  await using world = await openWorld('postgresql', { rewriteUrl })
  const form = { grant_type: 'client_credentials' }
  try {
    const { body } = await world.token(world.app, form)
    const headers = basic(world.app.id, world.app.secret)
    await line!.cut()
    const refusals = [
      await world.token(world.app, form),
      await world.token(world.app, { grant_type: 'refresh_token', refresh_token: body.refresh_token }),
      await world.send('POST /authorization/revoke', { headers, form: { token: body.refresh_token } }),
      await world.send('POST /authorization/introspect', { headers, form: { token: body.access_token } }),
    ]
    for (const answer of refusals) {
      assert.equal(answer.status, 503, answer.text)
      assert.equal(answer.body.error, 'temporarily_unavailable')
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    }
    const page = await world.send(`GET /authorization/authorize?client_id=${world.app.id}`)
    assert.equal(page.status, 503)
    const keys = await world.send('GET /.well-known/jwks.json')
    assert.equal(keys.status, 503)
    assert.equal(keys.headers.get('cache-control'), 'no-store')
    assert.equal((await world.send('GET /.well-known/oauth-authorization-server')).status, 200)

    await line!.mend()
    await until('tokens are issued', async () => (await world.token(world.app, form)).status === 200)
    const again = await world.token(world.app, { grant_type: 'refresh_token', refresh_token: body.refresh_token })
    assert.equal(again.status, 200)

    const log = world.log.join('\n')
    const failures = world.log.filter((line) => line.includes('authorization request failed'))
    assert.equal(failures.length, refusals.length, log)
    assert.deepEqual(
      world.log.filter((line) => JSON.parse(line).level > 40),
      [],
    )
    const secrets = [world.app.secret, headers.authorization.slice(6), body.access_token, body.refresh_token]
    for (const secret of secrets) assert.ok(!log.includes(secret), 'a secret in the log')
  } finally {
    await line?.close()
  }
})
