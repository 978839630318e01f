import type { Figure } from './goal.ts'
import type { LoadRequest } from './load-process.ts'
import { measureSearch } from './search.ts'
import { bulkRequests, tableRequests, todoRequests } from './tables-process.ts'
import { compareCosts, compareRates, openLoad, openServer, takeTurns } from './turns.ts'

const file = 'tables-process.ts'

/**
 * Measures routes over a table on PostgreSQL, with tokens and validation: those of `sql-table`, and the coded to-do
 * routes, each compared with the same routes hand-written in Fastify with @fastify/jwt (ES256) and pg with prepared
 * statements.
 */
export async function measureTables(): Promise<Figure[]> {
  return [
    ...(await compare({ kind: 'table', label: 'sql-table', requests: tableRequests, goal: 1.2 })),
    ...(await compare({ kind: 'table', label: 'sql-table', requests: bulkRequests, goal: 0.9 })),
    ...(await compare({ kind: 'todo', label: 'coded', requests: todoRequests, goal: 1 })),
    ...(await compareEmbeds()),
    ...(await measureSearch()),
  ]
}

/** Compares rows that contain one and several rows of other tables with one statement and with three, written by hand. */
async function compareEmbeds(): Promise<Figure[]> {
  const roles = ['embed-waypost', 'embed-one', 'embed-three']
  const servers = await Promise.all(roles.map((role) => openServer('embed-process.ts', role)))
  const load = openLoad()
  const rounds = await takeTurns({ servers, load, ms: 500, rounds: 16 })
  for (const child of [...servers.map((server) => server.child), load]) child.kill()
  const label = 'sql-table: GET of 16 rows with one and several embedded rows, times hand-written'
  return [
    { how: 'in one statement', index: 1, goal: 1 },
    { how: 'in three statements', index: 2, goal: 2 },
  ].flatMap(({ how, index, goal }) => {
    const of = { indexes: [0, index], names: ['Waypost', `hand-written ${how}`], goal } as const
    return [
      ...compareRates(`${label} ${how}`, rounds, of),
      ...compareCosts('the same by processor time of the server', rounds, of),
    ]
  })
}

interface Compared {
  readonly kind: 'table' | 'todo'
  readonly label: string
  readonly requests: Readonly<Record<string, LoadRequest>>
  readonly goal: number
}

async function compare({ kind, label, requests, goal }: Compared): Promise<Figure[]> {
  const opened = [await openServer(file, `${kind}-waypost`), await openServer(file, `${kind}-fastify`)]
  const load = openLoad()
  const figures: Figure[] = []
  for (const [name, request] of Object.entries(requests)) {
    const servers = opened.map((server) => ({
      ...server,
      request: { ...request, headers: { ...request.headers, ...server.request?.headers } },
    }))
    const rounds = await takeTurns({ servers, load, ms: 500, rounds: 16 })
    const of = { indexes: [0, 1], names: ['Waypost', 'hand-written'], goal } as const
    figures.push(
      ...compareRates(`${label}: ${name}, times hand-written`, rounds, of),
      ...compareCosts('the same by processor time of the server', rounds, of),
    )
  }
  for (const child of [...opened.map((server) => server.child), load]) child.kill()
  return figures
}
