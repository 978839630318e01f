import { HostCommand } from '../../bin/cli/index.ts'
import type { ListedEvent } from '../../src/operate/index.ts'

export default class EventList extends HostCommand {
  static override description = 'List the events of the active release'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    await this.parse(EventList)
    const { listHostEvents, maxCounted } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const events = await listHostEvents(host)
      this.#show(events, maxCounted)
      return { events: events.map(toJson) }
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
      { title: 'DEAD', cells: cells(({ dead }) => (dead === maxCounted ? `${dead}+` : String(dead))) },
      { title: 'SCOPES', cells: cells(({ scopes }) => scopes.join(', ') || '-'), narrow: 'wrap', order: 2 },
      { title: 'SCHEMA', cells: cells(({ hasSchema }) => (hasSchema ? 'yes' : '-')) },
      { title: 'DESCRIPTION', cells: cells(describe), narrow: 'cut', minWidth: 11 },
    ])
    const left = events.filter((event) => !event.isReleased && event.messages + event.pending > 0)
    const names = left.map(({ name }) => name).join(', ')
    if (left.length > 0) this.note(`\nNot delivered: ${names} (not in the active release).`)
  }
}

function describeSubscriptions({ subscriptions, postponed }: ListedEvent): string {
  const counts = Object.entries(subscriptions).filter(([, count]) => count > 0)
  const active = postponed === 0 ? 'active' : `active (${postponed} postponed)`
  return counts.map(([state, count]) => `${count} ${state === 'active' ? active : state}`).join(', ') || '-'
}

function describe({ description, isReleased }: ListedEvent): string {
  return isReleased ? (description ?? '-') : '(not in the active release)'
}

function toJson({ name, hasSchema, isReleased, ...event }: ListedEvent) {
  const { description, scopes, subscriptions, postponed, messages, pending, dead } = event
  return {
    event: name,
    ...(description === undefined ? {} : { description }),
    scopes,
    schema: hasSchema,
    released: isReleased,
    subscriptions,
    postponed,
    waiting: messages + pending,
    dead,
  }
}
