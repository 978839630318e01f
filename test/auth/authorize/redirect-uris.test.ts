import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chooseKinds } from '../../support/forms.ts'
import { openWorld, type World } from '../world.ts'

const good = [
  'https://app.example.com',
  'https://app.example.com/callback?tenant=1',
  'https://app.example.com:8443/callback',
  'https://App.Example.COM/callback',
  'http://localhost:8080/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:5000/callback',
  'com.example.app:/callback',
  'com.example.app://callback',
]

const bad: readonly (readonly [uri: string, reason: RegExp])[] = [
  ['', /character/],
  ['/callback', /not absolute/],
  ['//app.example.com/callback', /not absolute/],
  ['app.example.com/callback', /not absolute/],
  ...['state', 'code', 'iss', 'error', 'error_description', 'error_uri', 's%74ate'].map(
    (name) =>
      [`https://app.example.com/callback?a=1&${name}=b`, /its query has "[a-z_]+", which the response adds/] as const,
  ),
  ['com.example.app:/callback?code=1', /its query has "code"/],
  ['https://app.example.com/callback#top', /fragment/],
  ['https://app.example.com/callback#', /fragment/],
  ['http://app.example.com/callback', /only allowed for loopback addresses/],
  ['http://127.0.0.2/callback', /only allowed for loopback addresses/],
  ['http://localhost.example.com/callback', /only allowed for loopback addresses/],
  ['http://127.0.0.1.example.com/', /only allowed for loopback addresses/],
  ['http://127.1/callback', /only allowed for loopback addresses/],
  ['https://127.1/callback', /normalize its host differently/],
  ['https://0x7f000001/callback', /normalize its host differently/],
  ['https://2130706433/callback', /normalize its host differently/],
  ['https://[0:0:0:0:0:0:0:1]/callback', /normalize its host differently/],
  ['http://localhost@example.com/', /user name/],
  ['https://ann:secret@app.example.com/', /user name/],
  ['https://@app.example.com/', /user name/],
  ['https:/app.example.com/callback', /host/],
  ['https:app.example.com', /host/],
  ['https:///callback', /host/],
  ['https://*.example.com/callback', /host/],
  ["https://a;script-src'unsafe-inline'/", /host/],
  ['https://app.example.com:0/', /host/],
  ['http://127.0.0.1:080/', /host/],
  ['https://app.example.com:/', /host/],
  ['https://app.example.com:99999/', /not absolute/],
  ['javascript:alert(1)', /not private to one app/],
  ['data:text/html,hello', /not private to one app/],
  ['file:///etc/passwd', /not private to one app/],
  ['myapp:/callback', /not private to one app/],
  ['JAVASCRIPT:alert(1)', /not absolute/],
  ['com.example.app://ann@callback', /user name/],
  ['https://app.example.com\\@example.com/', /character/],
  ['https://app.example.com/a b', /character/],
  ['https://app.example.com/\r\nset-cookie:a=b', /character/],
  ['https://app.example.com/\0', /character/],
  ['https://äpp.example.com/', /character/],
  [' https://app.example.com/', /character/],
  [`https://app.example.com/${'a'.repeat(2048)}`, /longer than 2048/],
]

for (const kind of chooseKinds('sqlite')) {
  describe(`redirect URIs of a client on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    test('are https, http to the local machine, or a private-use scheme of an app', async () => {
      const { id } = await world.addClient({ redirectUris: [...good, good[0]!] })
      const row = await world.system.db
        .selectFrom('waypost_client')
        .select('redirect_uris')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(JSON.parse(row.redirect_uris), good)
    })

    for (const [uri, reason] of bad) {
      test(`are not ${JSON.stringify(uri.slice(0, 60))}`, async () => {
        await assert.rejects(world.addClient({ redirectUris: [good[0]!, uri] }), (error: Error) => {
          assert.equal((error as { code?: string }).code, 'WP_AUTH_REDIRECT_URI')
          assert.match(error.message, reason)
          assert.ok(error.message.length < 300)
          return true
        })
      })
    }

    test('are 20 at most', async () => {
      const many = Array.from({ length: 21 }, (_, index) => `https://app.example.com/${index}`)
      await world.addClient({ redirectUris: many.slice(1) })
      await assert.rejects(world.addClient({ redirectUris: many }), { code: 'WP_AUTH_REDIRECT_URIS', kind: 'user' })
    })
  })
}
