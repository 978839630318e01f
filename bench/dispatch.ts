import { atMost, beside, type Figure } from './goal.ts'
import type { LoadRequest } from './load-process.ts'
import { median, quantile } from './statistics.ts'
import { openLoad, openServer, takeTurns, type Measured } from './turns.ts'

const request = (path: string): LoadRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ title: 'Buy milk', content: 'Two bottles' }),
})

/** Measures the cost of a dispatch in a POST route that inserts a row in a transaction. */
export async function measureDispatch(): Promise<Figure[]> {
  const { added, rates, costs } = await measureDispatchCost('/dispatched')
  return [
    atMost('a dispatch adds to a POST route with one insert', { value: added, unit: '%' }, 30),
    beside('  without and with', rates),
    beside('  processor time of the server', costs),
  ]
}

interface DispatchCost {
  /** In percent. */
  readonly added: number
  readonly rates: string
  readonly costs: string
}

/** Compares a route that dispatches with one that does not, on PostgreSQL, in turns on one server. */
export async function measureDispatchCost(path: string): Promise<DispatchCost> {
  const server = await openServer('dispatch-process.ts', '')
  const load = openLoad()
  const servers = ['/plain', path].map((one) => ({ ...server, request: request(one) }))
  const rounds = await takeTurns({ servers, load, ms: 500 })
  for (const child of [server.child, load]) child.kill()
  const added = median(rounds.map(([plain, dispatched]) => plain!.rate / dispatched!.rate - 1)) * 100
  const rate = (index: number) => median(rounds.map((round) => round[index]!.rate)).toFixed(0)
  const cost = (index: number) => leastDisturbed(rounds, index).toFixed(0)
  return { added, rates: `${rate(0)} and ${rate(1)} /s`, costs: `${cost(0)} and ${cost(1)} µs` }
}

function leastDisturbed(rounds: readonly Measured[][], index: number): number {
  return quantile(
    rounds.map((round) => round[index]!.cost),
    0.25,
  )
}
