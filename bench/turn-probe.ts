// Loaded into a measured process before everything else: reports its longest turn and the processor time of all its
// threads, in milliseconds, on a socket whose path is a variable.
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { watchTurns } from './longest-turn.ts'

export interface TurnReport {
  readonly turn: number
  readonly cpu: number
}

const path = process.env['WAYPOST_BENCH_TURNS']
if (isMainThread && path !== undefined) {
  const takeLongest = watchTurns()
  const report = () => {
    const { user, system } = process.cpuUsage()
    return JSON.stringify({ turn: takeLongest(), cpu: (user + system) / 1000 } satisfies TurnReport)
  }
  createServer((socket) => socket.end(report()))
    .listen(path)
    .unref()
}
