import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { issueTokens, openKeyRing, openTokenIssuer, type TokenIssuer } from '../../src/auth/index.ts'
import { grantAuthorizationCode } from '../../src/auth/endpoint/grant-authorization-code.ts'
import { grantPassword } from '../../src/auth/endpoint/grants.ts'
import { defaultSettings, makeSecret, sha256 } from '../../src/kit/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { bearer, issuer } from '../support/server.ts'
import { openWorld, password, setStatus, type Credentials, type World } from './world.ts'

/** A caller that waits for the response. */
const caller = { assertStillWaiting: async () => undefined, assertOnTime: () => undefined }
const redirectUri = 'https://app.example.com/cb'

for (const kind of chooseKinds('sqlite')) {
  // This server has just authenticated the client, and learns of changes by others a moment later.
  describe(`a token for a client that another server has just changed, on ${kind}`, () => {
    let world: World
    let behind: TokenIssuer
    before(async () => {
      world = await openWorld(kind)
      const { system, clock } = world.host
      const { secrets } = await openIdentity(world.host)
      const keys = await openKeyRing(system, secrets)
      behind = openTokenIssuer({ system, keys, clock, secrets, issuer, settings: () => defaultSettings })
    })
    after(() => world.close())

    const issue = (client: Credentials, refresh: boolean) => {
      const grantee = { userId: world.annId, clientId: client.id, scopes: ['todo'] }
      return issueTokens(behind, grantee, { refresh, secretHash: sha256(client.secret) })
    }
    const refused = { error: 'invalid_client', status: 401 }
    const changes = [
      {
        name: 'whose secret is another one',
        change: async ({ id }: Credentials) => {
          const login = (await world.logIn()).body
          const request = { headers: bearer(login.token), json: { revoke_tokens: true } }
          assert.equal((await world.send(`POST /consumer/client/${id}/secret`, request)).status, 200)
        },
      },
      {
        name: 'that is disabled',
        change: ({ id }: Credentials) => setStatus(world.system, 'client', { id, status: 'disabled' }),
      },
      {
        name: 'whose owner is disabled',
        change: () => setStatus(world.system, 'user', { id: world.annId, status: 'disabled' }),
      },
    ]
    for (const { name, change } of changes) {
      for (const refresh of [false, true]) {
        test(`is not issued ${refresh ? 'with' : 'without'} a refresh token to one ${name}`, async () => {
          const client = await world.addClient({ name })
          assert.ok((await issue(client, refresh)).accessToken)
          await change(client)
          await assert.rejects(issue(client, refresh), refused)
          await setStatus(world.system, 'user', { id: world.annId, status: 'active' })
        })
      }
    }

    /** Acts like a server whose lookup of the client is older than the change. */
    const changesOfClients = changes.slice(0, 2)
    for (const { name, change } of changesOfClients) {
      test(`is not issued for a password to one ${name}`, async () => {
        const client = await world.addClient({ name, grants: ['password'] })
        const known = (await behind.clients.read(client.id))!
        const form = { username: 'ann', password }
        const request = { client: known, form, requested: undefined, address: '203.0.113.5', caller }
        assert.ok((await grantPassword(behind, request)).accessToken)
        await change(client)
        await assert.rejects(grantPassword(behind, request), refused)
      })

      test(`is not issued for a code to one ${name}`, async () => {
        const client = await world.addClient({ name, grants: ['authorization_code'], redirectUris: [redirectUri] })
        const known = (await behind.clients.read(client.id))!
        const redeem = (form: Readonly<Record<string, string>>) =>
          grantAuthorizationCode(behind, { client: known, form, requested: undefined, address: '', caller })
        assert.ok((await redeem(await storeCode(client.id))).accessToken)
        await change(client)
        await assert.rejects(redeem(await storeCode(client.id)), refused)
      })
    }

    async function storeCode(clientId: string): Promise<Readonly<Record<string, string>>> {
      const [code, verifier] = [makeSecret(), makeSecret()]
      await world.system.db
        .insertInto('waypost_code')
        .values({
          hash: sha256(code),
          client_id: clientId,
          user_id: world.annId,
          redirect_uri: redirectUri,
          scope: 'todo',
          separator: ' ',
          challenge: createHash('sha256').update(verifier).digest('base64url'),
          created_at: world.clock.now(),
          expires_at: world.clock.now() + 60_000,
          used_at: null,
          family_id: null,
        })
        .execute()
      return { code, code_verifier: verifier, redirect_uri: redirectUri }
    }

    test('of several that are stored at the same time, only valid ones are kept', async () => {
      const [one, other] = [await world.addClient({}), await world.addClient({})]
      await setStatus(world.system, 'client', { id: other.id, status: 'disabled' })
      const clients = [one, other, one, other, one]
      const settled = await Promise.allSettled(clients.map((client) => issue(client, false)))
      assert.deepEqual(
        settled.map(({ status }) => status === 'fulfilled'),
        clients.map((client) => client === one),
      )
    })

    for (const refresh of [false, true]) {
      test(`waits for a change that is under way, ${refresh ? 'with' : 'without'} a refresh token`, async () => {
        const client = await world.addClient({})
        let late: Promise<unknown> | undefined
        await world.system.transaction(async (trx) => {
          await trx.updateTable('waypost_client').set({ secret_hash: 'x' }).where('id', '=', client.id).execute()
          late = assert.rejects(issue(client, refresh), refused)
          await new Promise((resolve) => setTimeout(resolve, 50))
        })
        await late
      })
    }
  })
}
