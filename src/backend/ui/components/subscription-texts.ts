import { numbers } from './format.ts'

export const subscriptionsTexts = {
  text: 'Endpoints of users and clients that receive events.',
  add: 'Add subscription',
  addTitle: 'Add a subscription',
  chooseEvent: 'Choose an event',
  subscribe: 'Subscribe',
  noEvents: 'The release declares no events.',
  userText: 'Needs a scope of the event.',
  endpointText: 'An http or https URL. Each event is posted to it.',
  endpointPlaceholder: 'https://example.com/hooks',
  secret: 'Signing secret',
  secretTitle: 'The subscription was added',
  secretText: 'The receiver verifies the signature of each request with this secret.',
  empty: 'No subscriptions yet',
  emptyText:
    'Users and clients subscribe with the consumer API, or you add a subscription here. In dev, Listen on the page of an event shows deliveries without an endpoint, as does waypost event:listen NAME.',
} as const

export const subscriptionTexts = {
  test: 'Send test',
  pause: 'Pause',
  resume: 'Resume',
  more: 'More actions',
  changeEndpoint: 'Change endpoint',
  rotate: 'New secret',
  disable: 'Disable',
  enable: 'Enable',
  remove: 'Delete',
  pending: 'Pending',
  dead: 'Dead',
  failures: 'Failures in a row',
  postponed: 'Nothing is sent until',
  pausedAt: 'Paused',
  barred: 'by an administrator',
  deliveries: 'Deliveries',
  noDeliveries: 'No deliveries yet',
  noDeliveriesText: 'Send a test to check the endpoint.',
  saveEndpoint: 'Save endpoint',
  endpointText: 'Pending deliveries go to the new endpoint too.',
  saved: 'The endpoint was changed',
  paused: 'The subscription is paused',
  resumed: 'The subscription is active',
  pauseTitle: 'Pause this subscription?',
  pauseText: (pending: number) =>
    `Nothing is sent until it is resumed. ${describePending(pending, 'waits', 'wait')} Events that are dispatched while it is paused are not delivered to it.`,
  disableTitle: 'Disable this subscription?',
  disableText: (pending: number) =>
    `Nothing more is sent, and its user cannot enable it again. ${describePending(pending, 'is cancelled', 'are cancelled')}`,
  disableAction: 'Disable subscription',
  disabled: 'The subscription is disabled',
  deleteTitle: 'Delete this subscription?',
  deleteText: (pending: number) =>
    `Its secret is lost, and finished deliveries can no longer be replayed. ${describePending(pending, 'is cancelled', 'are cancelled')}`,
  deleteAction: 'Delete subscription',
  deletedDone: 'The subscription was deleted',
  rotateTitle: 'Replace the secret of this subscription?',
  rotateAction: 'Create new secret',
  overlaps: {
    '0s': 'no overlap: the old secret stops working immediately',
    '1h': '1 hour',
    '24h': '24 hours',
    '7d': '7 days',
  },
  overlap: 'Old secret also signs for',
  rotated: 'The new signing secret',
  previousUntil: (time: string) =>
    `Until ${time}, requests are also signed with the previous secret. Change the secret in your receiver before then.`,
  previousEnded: 'The previous secret no longer signs. Change the secret in your receiver now.',
} as const

function describePending(count: number, one: string, many: string): string {
  if (count === 0) return ''
  return count === 1 ? `1 pending delivery ${one}.` : `${numbers.format(count)} pending deliveries ${many}.`
}
