import type { Figure } from './goal.ts'
import { routeRequests, type RouteName } from './route-process.ts'
import { compareCosts, compareRates, openLoad, openServer, takeTurns } from './turns.ts'

/** The required share of the hand-written route's rate. */
const goals: Readonly<Record<RouteName, number>> = {
  'public GET': 0.9,
  'GET with a query': 0.9,
  'POST with a body': 0.85,
}

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
    const of = { indexes: [0, 1], names: ['Waypost', 'Fastify'], goal: goals[name] } as const
    figures.push(
      ...compareRates(`${name} as a part of Fastify's`, rounds, of),
      ...compareCosts('the same by processor time', rounds, of),
    )
  }
  for (const child of [...servers.map((server) => server.child), load]) child.kill()
  return figures
}
