// What is changed on one of three servers counts at once there, and within a second on the others.
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { change, password, setStatus } from '../auth/world.ts'
import { until } from '../support/until.ts'
import { assertRefused, hammer } from './hammer.ts'
import { startThreeServers, type ThreeServers, type Token } from './three-servers.ts'
import { isLong, longTest } from '../support/forms.ts'

describe('three servers on one PostgreSQL', { concurrency: 1 }, () => {
  let world: ThreeServers
  before(async () => {
    world = await startThreeServers(isLong ? 3 : 2) // in CI, one beside that which makes the change
  })
  after(() => world.close())

  /** Makes a change while every server is asked without a break, and says when each refused at last. */
  async function assertNoticed(
    t: TestContext,
    token: Token,
    { make, status }: { make(): Promise<unknown>; status: number },
  ) {
    const hammers = world.servers.map(({ port }) => hammer(port, token.headers))
    await pause(100)
    await make()
    const since = performance.now() // the commit was before
    const latest = await assertRefused(hammers, since, [status])
    t.diagnostic(`let in until ${latest.join(', ')} ms after the change`)
    return { hammers, since }
  }

  const first = () => world.servers[0].port
  const made: readonly { name: string; make(token: Token): Promise<void>; undo?(): Promise<void> }[] = [
    { name: 'an access token that was revoked', make: (token) => world.revoke(first(), token.jwt) },
    {
      name: 'the access token of a refresh token that was',
      make: (token) => world.revoke(first(), token.refreshToken),
    },
    {
      name: 'a token that its owner withdrew',
      make: ({ jti }) => world.changeAsAnn(first(), `DELETE /consumer/token/${jti}`),
    },
    {
      name: 'a client that its owner disabled',
      make: () => world.changeAsAnn(first(), `PATCH /consumer/client/${world.client.id}`, { status: 'disabled' }),
      undo: () => world.changeAsAnn(first(), `PATCH /consumer/client/${world.client.id}`, { status: 'active' }),
    },
    {
      name: 'tokens from before their owner changed his password',
      make: () => world.changeAsAnn(first(), 'PUT /consumer/account/password', { old: password, new: password }),
    },
  ]
  // In CI the first: consumer/tokens.test.ts, consumer/clients.test.ts and consumer/account.test.ts have these changes, and
  // auth/guard-feed.test.ts how servers notice one.
  for (const [index, { name, make, undo }] of made.entries()) {
    const declare = index === 0 ? test : longTest
    declare(`reject ${name}, on the server that made the change immediately`, async (t: TestContext) => {
      for (let round = 0; round < (isLong ? 3 : 1); round++) {
        const token = await world.issueKnown()
        const { hammers, since } = await assertNoticed(t, token, { make: () => make(token), status: 401 })
        for (const { began, status } of hammers[0]!.asked) if (began > since) assert.equal(status, 401)
        await undo?.()
      }
    })
  }

  const changes: readonly { name: string; status: number; make(): Promise<unknown>; undo(): Promise<unknown> }[] = [
    {
      name: 'a user that lost a scope',
      status: 403,
      make: () =>
        change(world.system, [{ kind: 'user', subject: world.annId }], (trx) =>
          trx.deleteFrom('waypost_user_scope').where('scope', '=', 'todo').execute(),
        ),
      undo: () =>
        change(world.system, [{ kind: 'user', subject: world.annId }], (trx) =>
          trx.insertInto('waypost_user_scope').values({ user_id: world.annId, scope: 'todo' }).execute(),
        ),
    },
    {
      name: 'a user that was disabled',
      status: 401,
      make: () => setStatus(world.system, 'user', { id: world.annId, status: 'disabled' }),
      undo: () => setStatus(world.system, 'user', { id: world.annId, status: 'active' }),
    },
    {
      name: 'a client that was disabled',
      status: 401,
      make: () => setStatus(world.system, 'client', { id: world.client.id, status: 'disabled' }),
      undo: () => setStatus(world.system, 'client', { id: world.client.id, status: 'active' }),
    },
  ]
  // In CI the first: auth/guard-feed.test.ts removes exactly the entries that a change affects, and auth/guard-routes.test.ts
  // has such users and clients.
  for (const [index, { name, make, undo, status }] of changes.entries()) {
    const declare = index === 0 ? test : longTest
    declare(`reject ${name}, and admit it again after that is reverted`, async (t: TestContext) => {
      const token = await world.issueKnown()
      await assertNoticed(t, token, { make, status })
      await undo()
      for (const { port } of world.servers) {
        await until('it is let in', async () => (await world.ask(port, token)).status === 200)
      }
    })
  }
})
