import {
  findHiddenEvents,
  selectOwn,
  viewSubscription,
  type Subscriber,
  type SubscriptionsOptions,
  type SubscriptionView,
} from './subscription-row.ts'

export interface SubscriptionPage {
  /** The last subscription of the page before. */
  readonly after: string | undefined
  readonly limit: number
}

/** Returns the subscriptions of a user, oldest first: all, or a page. */
export async function listSubscriptions(
  options: SubscriptionsOptions,
  by: Subscriber,
  page?: SubscriptionPage,
): Promise<readonly SubscriptionView[]> {
  const { system } = options
  const hidden = await findHiddenEvents(options, system.db, by)
  const rows = await selectOwn(system, system.db, { by, hidden })
    .orderBy('subscription.id')
    .$if(page?.after !== undefined, (query) => query.where('subscription.id', '>', page!.after!))
    .$if(page !== undefined, (query) => query.limit(page!.limit))
    .execute()
  return rows.map((row) => viewSubscription(by, row))
}
