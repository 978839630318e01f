import { setTimeout as pause } from 'node:timers/promises'
import { startLoad } from '../test/support/steady-load.ts'
import { openChild } from './child.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'
import { openServer } from './turns.ts'

const rounds = scaled(5)
const perSecond = 200
const ms = scaled(3000, 300)

/**
 * Measures the effect of a flood of logins on a public route, with and without it in turns. Each login uses another
 * name.
 */
export async function measureLogins(): Promise<Figure[]> {
  const server = await openServer('token-process.ts', 'private-waypost')
  const flood = openChild('flood-process.ts', String(server.port))
  const quiet: number[] = []
  const flooded: number[] = []
  const ratios: number[] = []
  let logins = 0
  for (let round = -1; round < rounds; round += 1) {
    const before = await p99(server.port)
    flood.send('start')
    await pause(300)
    const during = await p99(server.port)
    const done = new Promise<number>((resolve) => flood.once('message', (count) => resolve(count as number)))
    flood.send('stop')
    const answered = await done
    if (round < 0) continue // warms up compiled code
    quiet.push(before)
    flooded.push(during)
    ratios.push(during / before)
    logins += answered
  }
  server.child.kill()
  flood.kill()
  return [
    atMost('p99 of a public route under a login flood, times without', { value: median(ratios), unit: '' }, 3),
    beside('  p99 without and with', `${median(quiet).toFixed(1)} and ${median(flooded).toFixed(1)} ms`),
    beside('  logins answered meanwhile', `${Math.round(logins / ((rounds * (ms + 300)) / 1000))} /s`),
  ]
}

async function p99(port: number): Promise<number> {
  const load = startLoad({
    port,
    path: '/open',
    perSecond,
    newConnectionEach: 50,
    judge: ({ status }) => (status === 200 ? undefined : `answered ${status}`),
  })
  await pause(ms)
  const { failures, latenciesMs } = await load.stop()
  if (failures.length > 0) throw new Error(`a public route ${failures[0]}`)
  return quantile(latenciesMs, 0.99)
}
