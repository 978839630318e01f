import type { Figure } from './goal.ts'
import { routeRequests, type RouteName } from './route-process.ts'
import { compareCosts, compareRates, openLoad, openServer, takeTurns } from './turns.ts'

/** The required shares of the hand-written route's rate and processor time. */
const goals = { rate: 0.95, cost: 0.9 }

/**
 * Measures the cost of a route: the same routes served by a generation and hand-written in Fastify, with the same
 * schemas. Both servers run in their own process, and the load alternates between them. Other load affects requests per
 * second, but hardly the server's processor time per request.
 */
export async function measureRoutes(): Promise<Figure[]> {
  const servers = [await openServer('route-process.ts', 'waypost'), await openServer('route-process.ts', 'fastify')]
  const load = openLoad()
  const figures: Figure[] = []
  for (const name of Object.keys(routeRequests) as RouteName[]) {
    const rounds = await takeTurns({ servers, load, request: routeRequests[name] })
    const of = { indexes: [0, 1], names: ['Waypost', 'Fastify'] } as const
    figures.push(
      ...compareRates(`${name} as a part of Fastify's`, rounds, { ...of, goal: goals.rate }),
      ...compareCosts('the same by processor time', rounds, { ...of, goal: goals.cost }),
    )
  }
  for (const child of [...servers.map((server) => server.child), load]) child.kill()
  return figures
}
