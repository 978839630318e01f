import { decodeProtectedHeader } from 'jose'
import { hashPassword, verifyPassword } from '../src/auth/account/passwords.ts'
import { rotateHostKey } from '../src/operate/index.ts'
import { openWorld, password, type Credentials, type World } from '../test/auth/world.ts'
import { asCommand, systemKinds, type TestServer } from '../test/support/server.ts'
import { until } from '../test/support/until.ts'
import { atMost, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const warmUp = scaled(50)
const refusals = scaled(400)
const hashes = scaled(15)
const rotations = scaled(5)

/** Measures what the timing of a rejection reveals to an attacker, and how soon all servers sign with a new key. */
export async function measureAuth(): Promise<Figure[]> {
  const figures = [await measurePasswords()]
  for (const kind of systemKinds) {
    await using world = await openWorld(kind)
    figures.push(await measureRefusals(world, kind), await measureRotation(world, kind))
  }
  return figures
}

async function measurePasswords(): Promise<Figure> {
  const kept = { isDisposable: false } // a System with full-cost password hashes
  const stored = await hashPassword(kept, { name: 'ann', password: 'correct horse' })
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < hashes; round++) {
    for (const [index, hash] of [stored, undefined].entries())
      times[index]!.push(await timeOf(() => verifyPassword(kept, 'wrong horse', hash)))
  }
  return ratio('login with an unknown name, times with a wrong password', times, 2)
}

async function measureRefusals(world: World, kind: string): Promise<Figure> {
  const unknown = { id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', secret: 'wrong' }
  const clients: readonly Credentials[] = [unknown, { id: world.app.id, secret: 'wrong' }]
  const times: [number[], number[]] = [[], []]
  // Alternating, so that other load on the machine affects both equally.
  for (let round = -warmUp; round < refusals; round++) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const passed = await timeOf(() => world.token(clients[index]!, { grant_type: 'client_credentials' }))
      if (round >= 0) times[index]!.push(passed)
    }
  }
  return ratio(`an unknown client, times a wrong secret, ${kind}`, times, 1.5)
}

async function measureRotation(world: World, kind: string): Promise<Figure> {
  await using second = await world.startSecond()
  const signsWith = async (server: TestServer) => {
    const { body } = await server.send('POST /consumer/login', { json: { username: 'ann', password } })
    return decodeProtectedHeader(body.token).kid
  }
  const times: number[] = []
  for (let round = 0; round < rotations; round++) {
    const { key } = await rotateHostKey(asCommand(world.host))
    const waits = [world, second].map((server) =>
      timeOf(() => until('it signs with the new key', async () => (await signsWith(server)) === key)),
    )
    times.push(Math.max(...(await Promise.all(waits))))
  }
  const slowest = { value: Math.max(...times), unit: 'ms' }
  return atMost(`slowest rotation until both servers sign with the new key, ${kind}`, slowest, 1000)
}

/** Returns the ratio of the larger median to the smaller one, whichever is slower. */
function ratio(what: string, times: readonly [number[], number[]], limit: number): Figure {
  const [one, other] = [median(times[0]), median(times[1])]
  return atMost(what, { value: Math.max(one, other) / Math.min(one, other), unit: '' }, limit)
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
