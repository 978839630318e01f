import { Flags, HostCommand, formatWait, limitFlag, toPrintable } from '../../bin/cli/index.ts'
import type { ListedDelayed, ListedEvent, ListedListener } from '../../src/operate/index.ts'

export default class EventList extends HostCommand {
  static override description =
    'List the events of the active release, or delayed events\nDelayed events are sent when they are due.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
    '<%= config.bin %> <%= command.id %> --delayed --event ticket_overdue',
  ]
  static override enableJsonFlag = true
  static override flags = {
    delayed: Flags.boolean({ description: 'List delayed events, the next one first' }),
    listener: Flags.boolean({ description: 'List listeners with their runs', exclusive: ['delayed'] }),
    event: Flags.string({ description: 'With --delayed: only those with this name', dependsOn: ['delayed'] }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventList)
    if (flags.listener) return this.#listListeners()
    if (flags.delayed) return this.#listDelayed(flags)
    const { listHostEvents, maxCounted } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const events = await listHostEvents(host)
      this.#show(events, maxCounted)
      return { events: events.map(toJson) }
    })
  }

  async #listListeners() {
    const { listHostListeners } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const listeners = await listHostListeners(host)
      const cells = (of: (listener: ListedListener) => string) => listeners.map(of)
      if (listeners.length === 0)
        this.note('The active release has no listeners. Declare them under "listener:" in waypost.yml.')
      else
        this.printTable([
          { title: 'LISTENER', cells: cells(({ name }) => name), narrow: 'wrap', order: 2, minWidth: 16 },
          {
            title: 'EVENT',
            cells: cells(({ event }) => event ?? '(not in the active release)'),
            narrow: 'wrap',
            order: 1,
          },
          { title: 'PENDING', cells: cells(({ counts }) => String(counts.pending)) },
          { title: 'RUNNING', cells: cells(({ counts }) => String(counts.running)) },
          { title: 'DEAD', cells: cells(({ counts }) => String(counts.dead)) },
        ])
      return {
        listeners: listeners.map(({ name, event, counts }) => ({ listener: name, event: event ?? null, ...counts })),
      }
    })
  }

  async #listDelayed({ event, limit }: { readonly event?: string | undefined; readonly limit: number }) {
    const { listHostDelayed, loadDatabaseTime } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry, next } = await listHostDelayed(host, { event, limit })
      const now = await loadDatabaseTime(host.system)
      const cells = (of: (delayed: ListedDelayed) => string) => entry.map(of)
      if (entry.length === 0) this.note('No events are delayed.')
      else
        this.printTable([
          { title: 'EVENT', cells: cells((one) => one.event), narrow: 'wrap', order: 2, minWidth: 16 },
          { title: 'KEY', cells: cells(({ key }) => toPrintable(key ?? '-')), narrow: 'wrap', order: 1, minWidth: 8 },
          { title: 'DUE', cells: cells(({ dueAt }) => (dueAt <= now ? 'now' : formatWait(dueAt - now))) },
          { title: 'DISPATCHED', cells: cells(({ createdAt }) => new Date(createdAt).toISOString()) },
          { title: 'ID', cells: cells(({ id }) => id) },
        ])
      if (next !== undefined) this.note(`\nShowing the first ${limit}; use --limit to show more.`)
      return { delayed: entry.map(delayedToJson) }
    })
  }

  #show(events: readonly ListedEvent[], maxCounted: number): void {
    if (events.length === 0) {
      this.note('The active release has no events. Declare them under "event:" in waypost.yml.')
      return
    }
    const cells = (of: (event: ListedEvent) => string) => events.map(of)
    this.printTable([
      { title: 'EVENT', cells: cells(({ name }) => name), narrow: 'wrap', order: 3, minWidth: 16 },
      { title: 'SUBSCRIPTIONS', cells: cells(describeSubscriptions) },
      { title: 'WAITING', cells: cells(({ messages, pending }) => String(messages + pending)) },
      ...(events.some(({ delayed }) => delayed > 0)
        ? [{ title: 'DELAYED', cells: cells(({ delayed }) => String(delayed)) }]
        : []),
      { title: 'DEAD', cells: cells(({ dead }) => (dead === maxCounted ? `${dead}+` : String(dead))) },
      { title: 'SCOPES', cells: cells(describeScopes), narrow: 'wrap', order: 2 },
      { title: 'SCHEMA', cells: cells(({ hasSchema }) => (hasSchema ? 'yes' : '-')) },
      { title: 'DESCRIPTION', cells: cells(describe), narrow: 'cut', minWidth: 11 },
    ])
    const left = events.filter((event) => !event.isReleased && event.messages + event.pending + event.delayed > 0)
    const names = left.map(({ name }) => name).join(', ')
    if (left.length > 0) this.note(`\nNot delivered: ${names} (not in the active release).`)
  }
}

function describeSubscriptions({ subscriptions, postponed }: ListedEvent): string {
  const counts = Object.entries(subscriptions).filter(([, count]) => count > 0)
  const active = postponed === 0 ? 'active' : `active (${postponed} postponed)`
  return counts.map(([state, count]) => `${count} ${state === 'active' ? active : state}`).join(', ') || '-'
}

function describeScopes({ scopes, isPrivate }: ListedEvent): string {
  return isPrivate ? '(private)' : scopes.join(', ') || '-'
}

function describe({ description, isReleased }: ListedEvent): string {
  return isReleased ? (description ?? '-') : '(not in the active release)'
}

function toJson({ name, hasSchema, isPrivate, isReleased, ...event }: ListedEvent) {
  const { description, scopes, subscriptions, postponed, messages, delayed, pending, dead } = event
  return {
    event: name,
    ...(description === undefined ? {} : { description }),
    scopes,
    private: isPrivate,
    schema: hasSchema,
    released: isReleased,
    subscriptions,
    postponed,
    waiting: messages + pending,
    delayed,
    dead,
  }
}

function delayedToJson({ id, event, key, isTargeted, dueAt, createdAt }: ListedDelayed) {
  const times = { due: new Date(dueAt).toISOString(), dispatched: new Date(createdAt).toISOString() }
  return { id, event, key: key ?? null, targeted: isTargeted, ...times }
}
