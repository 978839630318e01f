import { numbers } from './format.ts'

export const deliveriesTexts = {
  text: 'Webhooks that were sent, or are waiting to be sent.',
  result: 'Last result',
  attempts: 'Attempts',
  subscription: 'Subscription ID',
  due: 'due',
  next: 'next',
  replay: 'Replay',
  replayed: 'The delivery is sent again',
  retry: 'Try now',
  retried: 'The next attempt is due now',
  sameEndpoint: 'Only this endpoint',
  sameSubscription: 'Only this subscription',
  empty: 'No deliveries yet',
  emptyText: 'A delivery is created for each subscription when an action dispatches an event.',
  emptyLink: 'Show subscriptions',
} as const

export const replayDeadTexts = {
  open: 'Replay dead deliveries',
  title: 'Replay dead deliveries?',
  action: (count: number) => `Replay ${numbers.format(count)} ${count === 1 ? 'delivery' : 'deliveries'}`,
  none: 'Replay',
  died: 'Became dead in',
  text: (count: number) =>
    count === 0
      ? 'No dead deliveries match.'
      : `${count === 1 ? '1 delivery is' : `${numbers.format(count)} deliveries are`} sent again, each with the same id and four new attempts.`,
  left: 'Deliveries of disabled or deleted subscriptions are skipped.',
  counting: 'Counting…',
  anyEvent: 'Every event',
  done: (count: number) => `${numbers.format(count)} ${count === 1 ? 'delivery is' : 'deliveries are'} sent again`,
} as const

export const deliveryTexts = {
  title: 'Delivery',
  attempts: 'Attempts',
  noAttempts: 'No attempt has been made yet.',
  noResponse: 'There was no response.',
  emptyResponse: 'The response had no body.',
  responseBody: 'Response body, at most 4 KB',
  responseHeaders: 'Response headers',
  notStored: 'not stored',
  request: 'Request',
  headers: 'Headers',
  signature: 'Each attempt also has webhook-timestamp and webhook-signature.',
  body: 'Body',
  noBody: 'The message has been deleted. The setting keep.messages defines how long messages are kept.',
  truncated: 'Only the first 64 KB are shown.',
  message: 'Message',
  subscription: 'Subscription',
  finished: 'Finished',
  next: 'Next attempt',
  waits: 'due: it is sent as soon as possible',
  notAllowed:
    'Nothing was sent, because the address is not allowed. The setting delivery_allow allows private addresses.',
  ms: (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`),
  newest: (count: number) => `Only the newest ${count} attempts are shown.`,
  hidden: 'The response is hidden because the endpoint is not on the public internet.',
} as const
