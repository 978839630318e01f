import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openChild } from './child.ts'
import { atLeast, beside, type Figure } from './goal.ts'
import type { LoadOrder, LoadRequest } from './load-process.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'

/** The first report of a server. */
export interface ServerReport {
  readonly port: number
  /** The request to send to it. */
  readonly request?: LoadRequest
}

/** A server in its own process. */
export interface BenchServer {
  readonly child: ChildProcess
  readonly port: number
  readonly request: LoadRequest | undefined
}

export interface Measured {
  /** Requests per second. */
  readonly rate: number
  /** Microseconds of the server's processor time per request. */
  readonly cost: number
}

/** In the child: reports the port, and the processor time of this process on request. */
export function reportServer(report: ServerReport): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send!({ cpuMicros: user + system })
  })
  process.send!(report)
}

/**
 * @param file a file of this folder
 * @returns its process, once it listens
 */
export async function openServer(file: string, role: string): Promise<BenchServer> {
  const child = openChild(file, role)
  const { port, request } = (await nextReport(child)) as ServerReport
  return { child, port, request }
}

export function openLoad(): ChildProcess {
  return openChild('load-process.ts')
}

export interface Turns {
  readonly servers: readonly BenchServer[]
  readonly load: ChildProcess
  /** The request; by default the one that each server reports. */
  readonly request?: LoadRequest
  readonly rounds?: number
  readonly ms?: number
  readonly connections?: number
  readonly pipelining?: number
}

const warmUp = scaled(2, 0)

/**
 * Loads servers in turns.
 * @returns the results of each, by round
 */
export async function takeTurns({
  servers,
  load,
  request,
  rounds = 24,
  ms = 250,
  ...how
}: Turns): Promise<Measured[][]> {
  const measured: Measured[][] = []
  for (let round = -warmUp; round < scaled(rounds); round += 1) {
    const one: Measured[] = []
    const order = servers.map((_, index) => index)
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const server = servers[index]!
      one[index] = await measure(server.child, load, {
        ...how,
        port: server.port,
        request: request ?? server.request!,
        ms: scaled(ms, 50),
      })
    }
    if (round >= 0) measured.push(one) // warms up compiled code
  }
  return measured
}

async function measure(server: ChildProcess, load: ChildProcess, order: LoadOrder): Promise<Measured> {
  const before = (await ask(server, 'cpu')) as { cpuMicros: number }
  const { answered } = (await ask(load, order)) as { answered: number }
  const after = (await ask(server, 'cpu')) as { cpuMicros: number }
  return { rate: (answered / order.ms) * 1000, cost: (after.cpuMicros - before.cpuMicros) / answered }
}

/** Compares two servers by requests per second: the median of the ratios of adjacent turns. */
export function compareRates(what: string, rounds: readonly Measured[][], of: Comparison): Figure[] {
  const [one, other] = of.indexes
  const ratio = median(rounds.map((round) => round[one]!.rate / round[other]!.rate))
  const rates = [one, other].map((index) => median(rounds.map((round) => round[index]!.rate)).toFixed(0))
  return [share(`${what}, requests/s`, ratio, of), beside(`  ${of.names.join(' and ')}`, `${rates.join(' and ')} /s`)]
}

/**
 * Compares two servers by processor time. Other load only makes requests more expensive, so the lowest quarter counts.
 */
export function compareCosts(what: string, rounds: readonly Measured[][], of: Comparison): Figure[] {
  const costs = of.indexes.map((index) =>
    quantile(
      rounds.map((round) => round[index]!.cost),
      0.25,
    ),
  ) as [number, number]
  const ratio = costs[1] / costs[0]
  return [
    share(`  ${what}`, ratio, of),
    beside(`  ${of.names.join(' and ')}`, `${costs.map((cost) => cost.toFixed(1)).join(' and ')} µs`),
  ]
}

export interface Comparison {
  readonly indexes: readonly [number, number]
  readonly names: readonly [string, string]
  readonly goal?: number
}

function share(what: string, ratio: number, { goal }: Comparison): Figure {
  const amount = { value: ratio, unit: '' }
  return goal === undefined ? beside(what, amount, ratio) : { ...atLeast(what, amount, goal), ratio }
}

export async function nextReport(child: ChildProcess): Promise<unknown> {
  const heard = new AbortController()
  const { signal } = heard
  const gone = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${code}`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), gone])
    return message
  } finally {
    gone.catch(() => undefined)
    heard.abort()
  }
}

export function ask(child: ChildProcess, order: string | object): Promise<unknown> {
  const answer = nextReport(child)
  child.send(order)
  return answer
}
