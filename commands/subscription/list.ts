import { Flags, HostCommand, formatEndpoint, limitFlag, toPrintable } from '../../bin/cli/index.ts'
import type { ListedSubscription } from '../../src/operate/index.ts'

const states = ['active', 'paused', 'disabled'] as const

export default class SubscriptionList extends HostCommand {
  static override description = 'List the subscriptions of all users'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --event todo_created --user ann',
    '<%= config.bin %> <%= command.id %> --client shop --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    event: Flags.string({ description: 'Only subscriptions to this event' }),
    user: Flags.string({ description: 'Only subscriptions of this user, by name or id' }),
    client: Flags.string({ description: 'Only subscriptions created by this client, by id or name' }),
    state: Flags.option({ options: states, description: 'Only subscriptions in this state' })(),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SubscriptionList)
    const { listHostSubscriptions } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { state: status, ...filter } = flags
      const { entry: subscriptions, next } = await listHostSubscriptions(host, { ...filter, status })
      this.#show(subscriptions)
      if (next !== undefined) this.note(`\nShowing the newest ${flags.limit}; use --limit to show more.`)
      return { subscriptions: subscriptions.map(toJson) }
    })
  }

  #show(subscriptions: readonly ListedSubscription[]): void {
    if (subscriptions.length === 0) {
      this.note('No subscriptions found.')
      return
    }
    const cells = (of: (subscription: ListedSubscription) => string) => subscriptions.map(of)
    this.printTable([
      { title: 'SUBSCRIPTION', cells: cells(({ id }) => id) },
      {
        title: 'STATE',
        cells: cells(({ status, isBarred }) => (isBarred ? `${status} (by an administrator)` : status)),
      },
      { title: 'EVENT', cells: cells(({ event }) => event), narrow: 'wrap', order: 1 },
      { title: 'USER', cells: cells(({ user }) => user ?? '-'), narrow: 'wrap', order: 3, minWidth: 6 },
      { title: 'CLIENT', cells: cells(describeClient), narrow: 'wrap', order: 2, minWidth: 6 },
      { title: 'ENDPOINT', cells: cells(({ endpoint }) => formatEndpoint(endpoint)), narrow: 'wrap', order: 0 },
    ])
  }
}

function describeClient({ client }: ListedSubscription): string {
  return client === null ? '-' : toPrintable(client.name ?? client.id)
}

function toJson({ id, event, endpoint, status, isBarred, user, client, createdAt }: ListedSubscription) {
  return {
    subscription: id,
    event,
    endpoint: formatEndpoint(endpoint),
    status,
    ...(isBarred ? { disabled_by: 'administrator' } : {}),
    user,
    client,
    created: new Date(createdAt).toISOString(),
  }
}
