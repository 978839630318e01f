// Run by node as a process of its own: serves a System, and kills itself at the statement that it is told.
import pino from 'pino'
import type { Variables } from '../../src/kit/index.ts'
import { openHost, openIdentity } from '../../src/host/index.ts'
import { startServer } from '../../src/server/index.ts'
import { watchStatements } from './watch-statements.ts'

/** What the parent sends: first where System is, then at which point of its statements to die. */
export type Order =
  | { readonly folder: string; readonly variables: Variables }
  /** Before the statement of this number of the next transaction; behind a commit lies one point more. */
  | { readonly dieAt: number }

let left = Infinity
let hasBegun = false

/** Counts a point that a request passes. Nothing is cleaned up, flushed or closed: the process is gone. */
function pass(sql: string): void {
  hasBegun ||= sql.startsWith('begin') // what is read before changes nothing
  if (hasBegun) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

/** What the change feed and SQLite's own bookkeeping read is no part of a request. */
function isOfRequest(sql: string): boolean {
  return !/^\s*(pragma|listen|select h\.position|select 1 from sqlite_schema)/i.test(sql)
}

watchStatements((sql) => {
  if (isOfRequest(sql)) pass(sql)
})

process.on('message', (order: Order) => {
  if ('dieAt' in order) {
    left = order.dieAt
    hasBegun = false
    process.send!('armed')
  } else void serve(order)
})

async function serve({ folder, variables }: Extract<Order, { folder: string }>): Promise<void> {
  const host = await openHost({ folder, variables })
  const server = await startServer({
    host,
    identity: await openIdentity(host),
    logger: pino({ level: 'silent' }),
    isDevelopment: false,
    address: { host: '127.0.0.1', port: 0 },
  })
  process.send!({ port: server.port })
}
