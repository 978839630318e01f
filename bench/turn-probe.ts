// Loaded into a measured process before everything else: reports its longest turn on a socket whose path is a variable.
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { watchTurns } from './longest-turn.ts'

const path = process.env['WAYPOST_BENCH_TURNS']
if (isMainThread && path !== undefined) {
  const takeLongest = watchTurns()
  createServer((socket) => socket.end(String(takeLongest())))
    .listen(path)
    .unref()
}
