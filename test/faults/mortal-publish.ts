// Run by node as a process of its own: publishes the draft of a System, and kills itself at a statement of that.
import pino from 'pino'
import { openPublisher, SystemDraft, type PublishRequest } from '../../src/backend/index.ts'
import { loadReleasePlugins, openHost, type Host } from '../../src/host/index.ts'
import type { Variables } from '../../src/kit/index.ts'
import { watchStatements } from './watch-statements.ts'

/** What the parent sends: first where System is, then what to publish and at which statement to die. */
export type Order =
  | { readonly folder: string; readonly variables: Variables }
  | { readonly request: PublishRequest; readonly userId: string; readonly dieAt: number }

/** Publishes as an administrator, to the end. */
export async function publish(host: Host, { request, userId }: { request: PublishRequest; userId: string }) {
  const draft = new SystemDraft(host, () => 'mortal')
  const loadPlugins = (release: Parameters<typeof loadReleasePlugins>[1]) => loadReleasePlugins(host, release)
  const publisher = openPublisher({ host, loadPlugins, draft, logger: pino({ level: 'silent' }) })
  const who = { how: 'http', userId, name: 'ann', clientId: 'waypost', scopes: ['backend.admin'] } as const
  const id = await publisher.start(request, { host: { ...host, actor: who }, actor: { ...who, by: 'ann' } })
  await publisher.close()
  draft.close()
  return publisher.find(id)
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  let left = Infinity
  // Nothing is cleaned up, flushed or closed: the process is gone. What only reads changes nothing.
  watchStatements((sql) => {
    if (/^\s*(begin|create|insert|update|delete|with|select pg_notify|commit)/i.test(sql)) left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  })
  let opening: Promise<Host>
  process.on('message', (order: Order) => {
    if ('folder' in order) {
      opening = openHost(order)
      void opening.then(() => process.send!('ready'))
      return
    }
    left = order.dieAt
    void opening.then(async (host) => {
      await publish(host, order)
      await host.close()
      process.send!('done', () => process.disconnect())
    })
  })
}
