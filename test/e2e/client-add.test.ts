// A client that is added at the command line is one that can work.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm } from './serving.ts'

const uri = 'https://app.example.com/callback'
const machine = ['client_credentials', 'refresh_token']
const withUsers = ['authorization_code', 'refresh_token']

const added: readonly (readonly [words: string, grants: readonly string[]])[] = [
  ['client:add a --user ann', machine],
  [`client:add a --user ann --redirect-uri ${uri}`, withUsers],
  ['client:add a --user ann --public --redirect-uri http://127.0.0.1/cb', withUsers],
  ['client:add a --user ann --grants password', ['password']],
  [`client:add a --user ann --redirect-uri ${uri} --grants client_credentials`, ['client_credentials']],
]
const refused: readonly (readonly [words: string, said: RegExp])[] = [
  ['client:add a --user ann --public', /^Error: The client would not work: authorization_code needs a redirect URI$/m],
  ['client:add a --user ann --grants authorization_code', /authorization_code needs a redirect URI/],
  ['client:add a --user ann --public --grants client_credentials', /client_credentials needs a secret/],
  ['client:add a --user ann --grants implicit', /"implicit"/],
  [
    'client:add a --user ann --redirect-uri http://app.example.com/callback',
    /http is only allowed for loopback addresses/,
  ],
]

describe('client:add', { concurrency: 1 }, () => {
  let made: NewSystem
  before(async () => {
    made = await makeSystem('sqlite')
    await made.folder.ok('user:add ann --scopes todo')
  })
  after(() => made.close())

  for (const [words, grants] of added) {
    it(`${words}: may use ${grants.join(', ')}`, async () => {
      const client = JSON.parse(await made.folder.ok(`${words} --json`))
      assert.deepEqual(client.grants, grants)
      assert.equal('client_secret' in client, !words.includes('--public'))
    })
  }

  for (const [words, said] of refused) {
    it(`${words}: is rejected`, async () => {
      const { code, stdout, stderr } = await made.folder.run(words)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, said)
      assertCalm(stderr)
    })
  }
})
