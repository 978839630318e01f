// Run by node as a process of its own: serves a System, and kills or stops itself at the statement that it is told.
import pino from 'pino'
import type { Variables } from '../../src/kit/index.ts'
import { openHost, openIdentity } from '../../src/host/index.ts'
import { startServer } from '../../src/server/index.ts'
import { emptyManifest } from '../release/system.ts'
import { watchStatements } from './watch-statements.ts'

/** What the parent sends: first where System is, then at which point of its statements to die or to stop. */
export type Order =
  | { readonly folder: string; readonly variables: Variables; readonly config?: Readonly<Record<string, unknown>> }
  /** Before the statement of this number of the next transaction; behind a commit lies one point more. */
  | { readonly dieAt: number }
  /** Before the next statement that matches (SIGSTOP). */
  | { readonly stopAt: string }

let left = Infinity
let hasBegun = false
let stopAt: RegExp | undefined

/** Counts a point that a request passes. Nothing is cleaned up, flushed or closed: the process is gone. */
function pass(sql: string): void {
  hasBegun ||= sql.startsWith('begin') // what is read before changes nothing
  if (hasBegun) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
  if (stopAt?.test(sql) !== true) return
  stopAt = undefined
  process.kill(process.pid, 'SIGSTOP')
}

/** What the change feed and SQLite's own bookkeeping read is no part of a request. */
function isOfRequest(sql: string): boolean {
  return !/^\s*(pragma|listen|select h\.position|select 1 from sqlite_schema)/i.test(sql)
}

watchStatements((sql) => {
  if (isOfRequest(sql)) pass(sql)
})

process.on('message', (order: Order) => {
  if ('folder' in order) void serve(order)
  else arm(order)
})

function arm(order: Exclude<Order, { folder: string }>): void {
  if ('dieAt' in order) {
    left = order.dieAt
    hasBegun = false
  } else stopAt = new RegExp(order.stopAt)
  process.send!('armed')
}

async function serve({ folder, variables, config }: Extract<Order, { folder: string }>): Promise<void> {
  const host = await openHost({ folder, variables })
  const server = await startServer({
    host,
    identity: await openIdentity(host),
    logger: pino({ level: 'silent' }),
    isDevelopment: false,
    address: { host: '127.0.0.1', port: 0 },
  })
  if (config !== undefined) {
    const release = { id: 'test', manifest: { ...emptyManifest, config }, activatedAt: 0, activatedBy: 'test' }
    await server.serveRelease(release, { artifacts: [] })
  }
  process.send!({ port: server.port })
}
