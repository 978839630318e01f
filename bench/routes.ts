import type { Figure } from './goal.ts'
import { routeRequests, type RouteName } from './route-process.ts'
import { scaled } from './scale.ts'
import {
  compareCosts,
  compareRates,
  openLoad,
  openServer,
  takeTurns,
  type BenchServer,
  type Measured,
} from './turns.ts'

/** The required shares of the hand-written route's rate and processor time. */
const goals = { rate: 0.95, cost: 0.9 }

/** Each process compiles its code a little differently, by up to five percent, so several are measured. */
const pairs = 3

/**
 * Measures the cost of a route: the same routes served by a generation and hand-written in Fastify, with the same
 * schemas. Each server runs in its own process, and the load alternates between them. Other load affects requests per
 * second, but hardly the server's processor time per request.
 */
export async function measureRoutes(): Promise<Figure[]> {
  const names = Object.keys(routeRequests) as RouteName[]
  const rounds = Object.fromEntries(names.map((name) => [name, [] as Measured[][]])) as Record<RouteName, Measured[][]>
  const load = openLoad()
  for (let pair = 0; pair < scaled(pairs, 1); pair += 1) {
    const servers: BenchServer[] = []
    for (const role of ['waypost', 'fastify', 'same headers']) servers.push(await openServer('route-process.ts', role))
    for (const name of names) rounds[name].push(...(await takeTurns({ servers, load, request: routeRequests[name] })))
    for (const { child } of servers) child.kill()
  }
  load.kill()
  const of = { indexes: [0, 1], names: ['Waypost', 'Fastify'] } as const
  const same = { indexes: [0, 2], names: ['Waypost', 'Fastify with its headers'] } as const
  return names.flatMap((name) => [
    ...compareRates(`${name} as a part of Fastify's`, rounds[name], { ...of, goal: goals.rate }),
    ...compareCosts('the same by processor time', rounds[name], { ...of, goal: goals.cost }),
    ...compareRates('  of Fastify that sends the same headers', rounds[name], same),
    ...compareCosts('the same by processor time', rounds[name], same),
  ])
}
