import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { describe, test } from 'node:test'
import { openWorld, type World } from '../auth/world.ts'
import { sha256 } from '../../src/kit/index.ts'
import { send } from '../support/send.ts'
import { basic } from '../support/server.ts'
import type { Order } from './mortal-server.ts'
import { defaultKinds, isLong } from '../support/forms.ts'

/** More points than a refresh has. */
const limit = 40
/** Outside the long form, one before the new token is stored and one behind it. */
const points = isLong ? Array.from({ length: limit }, (_, index) => index + 1) : [4, 7]

for (const kind of defaultKinds) {
  describe(`a server that is killed while it rotates a refresh token, on ${kind}`, () => {
    test('leaves one valid token, at whatever point it is killed', async () => {
      // The grace is the survivor's, and long enough for any machine.
      await using world = await openWorld(kind, { config: { refresh_grace: '1h' } })
      let deaths = 0
      let next = startMortal(world)
      try {
        for (const point of points) {
          const mortal = await next
          if (point !== points.at(-1)) next = startMortal(world) // meanwhile
          if (await survives(world, mortal, point)) break
          deaths = point
        }
      } finally {
        await end((await next).child)
      }
      assert.ok(deaths >= 7, `it died at ${deaths} points`)
      if (isLong) assert.ok(deaths < limit, 'it never came to an answer')
    })
  })
}

interface Mortal {
  readonly child: ChildProcess
  readonly port: number
}

/** One refresh that ends at a point. @returns whether it came to an answer */
async function survives(world: World, { child, port }: Mortal, point: number): Promise<boolean> {
  const { body } = await world.token(world.app, { grant_type: 'client_credentials' })
  const first = body.refresh_token as string
  await order(child, { dieAt: point })
  const answer = await send(port, {
    method: 'POST',
    path: '/authorization/token',
    headers: { ...basic(world.app.id, world.app.secret), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: first }).toString(),
  }).catch((error: NodeJS.ErrnoException) => error.code)
  if (typeof answer === 'object') assert.equal(answer.status, 200)
  else assert.match(answer ?? '', /^(ECONNRESET|EPIPE)$/)
  await end(child)
  assert.equal(await countLive(world, first), 1, `after point ${point}`)
  const retry = await world.token(world.app, { grant_type: 'refresh_token', refresh_token: first })
  assert.equal(retry.status, 200, `after point ${point}: ${retry.text}`)
  if (typeof answer === 'object') assert.equal(retry.body.refresh_token, answer.body.refresh_token)
  assert.equal(await countLive(world, first), 1, `after point ${point} and a retry`)
  const last = await world.token(world.app, { grant_type: 'refresh_token', refresh_token: retry.body.refresh_token })
  assert.equal(last.status, 200)
  return typeof answer === 'object'
}

async function startMortal({ host }: World): Promise<Mortal> {
  const child = fork(path.join(import.meta.dirname, 'mortal-server.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const listening = once(child, 'message')
  child.send({ folder: host.folder, variables: host.variables } satisfies Order)
  const ended = once(child, 'exit').then(() => assert.fail('the server ended before it listened'))
  const [{ port }] = (await Promise.race([listening, ended])) as [{ port: number }]
  ended.catch(() => undefined) // it is killed later
  return { child, port }
}

async function order(child: ChildProcess, what: Order): Promise<void> {
  const armed = once(child, 'message')
  child.send(what)
  await armed
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Refresh tokens of the same family that nobody used. */
async function countLive({ system }: World, token: string): Promise<number> {
  const rows = await system.db
    .selectFrom('waypost_refresh_token as own')
    .innerJoin('waypost_refresh_token as token', 'token.family_id', 'own.family_id')
    .innerJoin('waypost_token_family as family', 'family.id', 'own.family_id')
    .select('token.hash')
    .where('own.hash', '=', sha256(token))
    .where('token.used_at', 'is', null)
    .where('family.revoked_at', 'is', null)
    .execute()
  return rows.length
}
