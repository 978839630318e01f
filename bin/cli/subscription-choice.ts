import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type { SubscriptionChoice } from '../../src/operate/index.ts'

/** What says which subscriptions a command changes. */
export const subscriptionChoice = {
  args: { id: Args.string({ description: 'Id of one subscription' }) },
  flags: {
    user: Flags.string({ description: 'All subscriptions of this user, by name or id' }),
    client: Flags.string({ description: 'All subscriptions that this client made, by id or name' }),
  },
}

/** Whether it says which: an id alone, or a user, a client or both. */
export function isChoice({ id, user, client }: SubscriptionChoice): boolean {
  return (id !== undefined) !== (user !== undefined || client !== undefined)
}
