import type { Figure } from './goal.ts'
import { compareCosts, compareRates, openLoad, openServer, takeTurns, type BenchServer } from './turns.ts'

const file = 'token-process.ts'

/**
 * Measures the cost of tokens: a private route compared with the same one without a check and one behind @fastify/jwt;
 * and issuing tokens.
 */
export async function measureTokens(): Promise<Figure[]> {
  return [...(await measurePrivateRoute()), ...(await measureTokenEndpoint())]
}

async function measurePrivateRoute(): Promise<Figure[]> {
  const servers = await openServers('private-waypost', 'private-bare', 'private-jwt', 'private-uncounted')
  const load = openLoad()
  const rounds = await takeTurns({ servers, load })
  stop(servers, load)
  const bare = { indexes: [0, 1], names: ['Waypost', 'bare Fastify'], goal: 0.9 } as const
  const jwt = { indexes: [0, 2], names: ['Waypost', '@fastify/jwt'], goal: 4 } as const
  const uncounted = { indexes: [0, 3], names: ['with', 'without'], goal: 0.97 } as const
  return [
    ...compareRates('private route with statistics as a part of one without', rounds, uncounted),
    ...compareCosts('the same by processor time', rounds, uncounted),
    ...compareRates('private route as a part of Fastify without a check', rounds, bare),
    ...compareCosts('the same by processor time', rounds, bare),
    ...compareRates('private route, times @fastify/jwt (ES256)', rounds, jwt),
    ...compareCosts('the same by processor time', rounds, jwt),
  ]
}

async function measureTokenEndpoint(): Promise<Figure[]> {
  const servers = await openServers('token-waypost', 'token-oidc-provider')
  const load = openLoad()
  // Like real clients: many connections, each with one request at a time.
  const rounds = await takeTurns({ servers, load, ms: 500, rounds: 16, connections: 64, pipelining: 1 })
  stop(servers, load)
  const of = { indexes: [0, 1], names: ['Waypost, in PostgreSQL,', 'oidc-provider, in memory'], goal: 1 } as const
  return [
    ...compareRates('client_credentials, times oidc-provider', rounds, of),
    ...compareCosts('the same by processor time', rounds, of),
  ]
}

async function openServers(...roles: string[]): Promise<BenchServer[]> {
  const servers: BenchServer[] = []
  for (const role of roles) servers.push(await openServer(file, role))
  return servers
}

function stop(servers: readonly BenchServer[], load: ReturnType<typeof openLoad>): void {
  for (const child of [...servers.map((server) => server.child), load]) child.kill()
}
