import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { atLeast, beside, type Figure } from './goal.ts'
import { roles, routeRequests, type LoadOrder, type Report, type RouteName } from './route-process.ts'
import { median, quantile } from './statistics.ts'

const rounds = 24
const ms = 250
const warmUp = 2

/** What each route has to reach of the same one by hand. */
const goals: Readonly<Record<RouteName, number>> = {
  'public GET': 0.9,
  'GET with a query': 0.9,
  'POST with a body': 0.85,
}

/**
 * What a route costs: the same routes served by a generation and written by hand in Fastify, with the same schemas. Both
 * servers run all the time, each in a process of its own, and the load goes to one after the other by turns. Requests a
 * second depend on what else the machine does; the time of the server's processor per request hardly does.
 */
export async function measureRoutes(): Promise<Figure[]> {
  const children = Object.keys(roles).map(openChild)
  const [waypost, fastify, load] = children as [ChildProcess, ChildProcess, ChildProcess]
  const servers = [
    { child: waypost, ...(await nextReport<{ port: number }>(waypost)) },
    { child: fastify, ...(await nextReport<{ port: number }>(fastify)) },
  ]
  const figures: Figure[] = []
  for (const name of Object.keys(routeRequests) as RouteName[]) {
    const pairs: (readonly [Measured, Measured])[] = []
    for (let round = -warmUp; round < rounds; round += 1) {
      const pair: Measured[] = []
      const isTurned = round % 2 !== 0
      for (const index of isTurned ? [1, 0] : [0, 1]) {
        const { child, port } = servers[index]!
        pair[index] = await measure(child, load, { port, name, ms })
      }
      if (round >= 0) pairs.push(pair as [Measured, Measured]) // compiled code first
    }
    figures.push(...compare(name, pairs))
  }
  for (const child of children) child.kill()
  return figures
}

interface Measured {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of the server's processor per request. */
  readonly cost: number
}

async function measure(server: ChildProcess, load: ChildProcess, order: LoadOrder): Promise<Measured> {
  const before = await ask<{ cpuMicros: number }>(server, 'cpu')
  const { answered } = await ask<{ answered: number }>(load, order)
  const after = await ask<{ cpuMicros: number }>(server, 'cpu')
  return { rate: (answered / order.ms) * 1000, cost: (after.cpuMicros - before.cpuMicros) / answered }
}

function compare(name: RouteName, pairs: readonly (readonly [Measured, Measured])[]): Figure[] {
  const of = (index: 0 | 1, key: keyof Measured) => {
    // What else the machine does can only make a request dearer: the quarter that it disturbed least tells its price.
    return quantile(
      pairs.map((pair) => pair[index][key]),
      key === 'cost' ? 0.25 : 0.5,
    )
  }
  const byRate = median(pairs.map(([one, other]) => one.rate / other.rate))
  const byCost = of(1, 'cost') / of(0, 'cost')
  const show = (key: keyof Measured, digits: number) => [of(0, key), of(1, key)].map((one) => one.toFixed(digits))
  return [
    {
      ...atLeast(`${name}, requests/s as a part of Fastify's`, { value: byRate, unit: '' }, goals[name]),
      ratio: byRate,
    },
    { ...atLeast('  the same by processor time', { value: byCost, unit: '' }, goals[name]), ratio: byCost },
    beside('  Waypost and Fastify', `${show('rate', 0).join(' and ')} /s, ${show('cost', 1).join(' and ')} µs`),
  ]
}

function openChild(role: string): ChildProcess {
  return fork(path.join(import.meta.dirname, 'route-process.ts'), [role])
}

async function nextReport<Wanted extends Report>(child: ChildProcess): Promise<Wanted> {
  const [message] = (await once(child, 'message')) as [Wanted]
  return message
}

function ask<Wanted extends Report>(child: ChildProcess, order: string | LoadOrder): Promise<Wanted> {
  const answer = nextReport<Wanted>(child)
  child.send(order)
  return answer
}
