// Run by node as a process of its own: migrates a System and activates a release, and kills itself at a point of that.
import { activateRelease, type BuiltRelease } from '../../src/release/index.ts'
import type { Variables } from '../../src/kit/index.ts'
import { loadReleasePlugins, migrateRelease, openHost } from '../../src/host/index.ts'
import { watchStatements } from './watch-statements.ts'

/** What the parent sends: first where System is, then what to deploy and at which point of it to die. */
export type Order =
  | { readonly folder: string; readonly variables: Variables }
  | { readonly release: BuiltRelease; readonly dieAt: number }

let left = Infinity

// Nothing is cleaned up, flushed or closed: the process is gone. What only reads changes nothing.
watchStatements((sql) => {
  if (/^\s*(begin|create|insert|update|delete|commit)/i.test(sql)) left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
})

let opening: Promise<Awaited<ReturnType<typeof openHost>>>

process.on('message', (order: Order) => {
  if ('folder' in order) {
    opening = openHost(order)
    void opening.then(() => process.send!('ready'))
  } else void deploy(order)
})

async function deploy({ release, dieAt }: Extract<Order, { release: BuiltRelease }>): Promise<void> {
  const host = await opening
  const plugins = await loadReleasePlugins(host, release)
  left = dieAt
  await migrateRelease({ host, plugins, release })
  await activateRelease(host.system, release, { by: 'mortal' })
  await host.close()
  process.send!('done', () => process.disconnect())
}
