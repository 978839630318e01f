export const eventsTexts = {
  text: 'Events that this API can send to your program. Subscribe to have each one posted to your URL.',
  name: 'Event',
  description: 'Description',
  scopes: 'Scope',
  search: 'Search',
  or: 'or',
  anyone: 'none needed',
  empty: 'No events',
  emptyText:
    'When this API reports events that your account may receive, they are listed here, and you can subscribe to them.',
  unknown: 'This event does not exist, or your account may not receive it.',
  all: 'Show all events',
  payload: 'Payload',
  anyPayload: 'The data can be any JSON.',
  example: 'Example',
  request: 'What your endpoint receives',
  requestText: 'Each event is a POST with the data as JSON and these headers.',
  headers: {
    'content-type': 'application/json',
    'waypost-event': 'The name of the event.',
    'webhook-id':
      'The id of the delivery, the same for all its attempts and replays. Ignore ids that you have already processed.',
    'webhook-timestamp':
      'The time of the attempt, in seconds since 1970. Reject requests that are older than five minutes.',
    'webhook-signature':
      'Proves that the request is from this API. For a while after you create a new secret, there are two, separated by a space.',
  },
  receiver: 'Write a receiver',
  receiverText:
    'Check the signature of the unchanged body, respond with a 2xx status immediately, and process the event afterwards. Any other response is a failure, and the event is sent again later. This program needs no packages; libraries for Standard Webhooks check the same signature.',
  secretNote: 'Set WEBHOOK_SECRET to the signing secret that you get when you subscribe.',
  language: 'Language',
  languages: { javascript: 'JavaScript', python: 'Python' },
  code: (language: string) => `Receiver in ${language}`,
  subscribe: 'Subscribe',
  subscribeTo: (event: string) => `Subscribe to ${event}`,
  endpoint: 'Your endpoint',
  endpointText: 'An http or https URL on the public internet. Each event is posted to it.',
  endpointPlaceholder: 'https://example.com/hooks',
  subscribed: 'You are subscribed',
  secret: 'Signing secret',
  secretText: 'Your receiver checks the signature of each request with this secret. Keep it out of your source code.',
  existing: 'You already have this subscription',
} as const

export const subscriptionsTexts = {
  text: 'Where events are sent, and what happened to each.',
  by: 'Created by',
  you: 'you',
  noEvents: 'Your account may not receive any events.',
  empty: 'No subscriptions yet',
  emptyText:
    'A subscription posts each event of one type to your URL, signed with a secret. Choose an event to see what it contains, then subscribe.',
  emptyLink: 'Show events',
  previousUntil: 'Old secret signs until',
  unknown: 'This subscription does not exist, or it belongs to another account.',
  all: 'Show your subscriptions',
  enable: 'Enable',
  pauseText:
    'Events that are dispatched while it is paused are not delivered to it. Deliveries that are pending wait until you resume it.',
  deleteText:
    'Its pending deliveries are cancelled, its secret stops working, and its deliveries can no longer be replayed.',
  administrator: 'An administrator disabled this subscription. Ask the operator of this API to enable it.',
  gone: 'This subscription is disabled because your endpoint responded with 410 Gone. Enable it when the endpoint is back.',
  disabled:
    'This subscription is disabled: its client was disabled, you ended your subscriptions with a new password, or the endpoint responded with 410 Gone. Events are not delivered until you enable it.',
  paused: 'This subscription is paused. Events that are dispatched now are not delivered to it.',
  postponed: (time: string) =>
    `Your endpoint failed many times in a row, so nothing is sent until ${time}. Then one delivery is sent as a test, and if it succeeds, the others follow.`,
  thirdParty: (client: string) => `${client} created this subscription with your permission.`,
  thirdPartyText: 'You can pause or delete it. Only the client sees its address and deliveries.',
  thirdPartyLink: 'Show connected clients',
  replayDead: 'Replay dead deliveries',
  replayDeadText:
    'Each is sent again with the same id and four new attempts, so your receiver may get events that it already has.',
  replayedNone: 'No dead delivery from this time can be replayed',
  noDeliveriesText:
    'When an event is dispatched, its delivery appears here with each attempt and how your endpoint responded. Send a test to check the endpoint.',
} as const

export const deliveriesTexts = {
  unknown: 'This subscription has no such delivery. Deliveries are deleted after some time.',
  back: 'Show the subscription',
  subscription: 'Subscription',
  replayed: 'Replayed',
  payload: 'Payload',
  noBody: 'The data was deleted after some time, or your account may no longer receive this event.',
  notAllowed: 'Nothing was sent, because the address of the endpoint is not on the public internet.',
} as const
