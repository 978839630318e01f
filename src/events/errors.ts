import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_EVENTS_UNKNOWN: { kind: 'user', status: 400, message: 'Unknown event "{event}"', hint: '{hint}' },
  WP_EVENTS_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'The event "{event}" is only for users with the scope {scopes}',
  },
  WP_EVENTS_LIMIT: {
    kind: 'user',
    status: 409,
    message: 'You have reached the limit of {limit} subscriptions',
    hint: 'Delete a subscription that you no longer need.',
  },
  WP_EVENTS_SUBSCRIPTION_UNKNOWN: { kind: 'user', status: 404, message: 'Unknown subscription "{id}"' },
  WP_EVENTS_SUBSCRIPTION_SAME: {
    kind: 'user',
    status: 409,
    message: 'The subscription "{id}" already has this event and endpoint',
    hint: 'Use it, or delete it first.',
  },
  WP_EVENTS_SUBSCRIPTION_CLIENT: {
    kind: 'user',
    status: 403,
    message: 'Only the client "{client}", which created the subscription "{id}", can change it',
    hint: "You can pause or delete it. Withdrawing the client's grant deletes all of its subscriptions.",
  },
  WP_EVENTS_SUBSCRIPTION_BARRED: {
    kind: 'user',
    status: 403,
    message: 'An administrator disabled the subscription "{id}"',
    hint: 'Ask an administrator of this server to enable it.',
  },
  WP_EVENTS_CLIENT_DISABLED: {
    kind: 'user',
    status: 409,
    message: 'The client "{client}", which created the subscription "{id}", is disabled',
    hint: 'Enable the client first.',
  },
  WP_EVENTS_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'The access token was revoked during the request',
    hint: 'Request a new token.',
  },
  WP_EVENTS_SUBSCRIPTION_STOPPED: {
    kind: 'user',
    status: 409,
    message: 'The subscription "{id}" is {status} and receives no deliveries',
    hint: 'Set its status to active first.',
  },
  WP_EVENTS_SENDS: {
    kind: 'user',
    status: 429,
    message: 'More than {limit} test events and replays were requested within a minute',
    hint: 'Try again in {wait}.',
  },
  WP_EVENTS_OVERLAP: {
    kind: 'user',
    status: 400,
    message: '"{overlap}" is not a valid overlap of secrets',
    hint: 'Write a duration such as 24h, at most 7d. With 0s, the old secrets stop working immediately.',
  },
  WP_EVENTS_ROTATIONS: {
    kind: 'user',
    status: 409,
    message: 'The subscription "{id}" already has {limit} old secrets that are still in use, which is the maximum',
    hint: 'Rotate with the overlap "0s" to end all old secrets immediately, or wait until one of them expires.',
  },
  WP_EVENTS_MESSAGE_UNKNOWN: { kind: 'user', status: 404, message: 'Unknown message "{id}"' },
  WP_EVENTS_DELIVERY_UNKNOWN: { kind: 'user', status: 404, message: 'Unknown delivery "{id}"' },
  WP_EVENTS_DELIVERY_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The delivery "{id}" is still pending',
    hint: 'It is sent when it is due. You can replay it once it has finished.',
  },
  WP_EVENTS_REPLAY_STOPPED: {
    kind: 'user',
    status: 409,
    message: 'The subscription of the delivery "{id}" is {state}',
    hint: 'Only deliveries of an active or paused subscription can be replayed.',
  },
  WP_EVENTS_REPLAY_PRUNED: {
    kind: 'user',
    status: 409,
    message: 'The data of the delivery "{id}" has been deleted',
    hint: 'The setting keep.messages defines how long it is kept.',
  },
  WP_EVENTS_DISPATCH_UNKNOWN: {
    kind: 'bug',
    status: 500,
    message: 'An action dispatched the event "{event}", which is not declared in waypost.yml',
    hint: '{hint}',
  },
  WP_EVENTS_DATA: {
    kind: 'bug',
    status: 500,
    message: 'The data dispatched with the event "{event}" cannot be serialized as JSON',
  },
  WP_EVENTS_SCHEMA: {
    kind: 'bug',
    status: 500,
    message: 'The data dispatched with the event "{event}" does not match its schema: {problems}',
    hint: 'Fix the data, or change the schema of the event in waypost.yml.',
  },
  WP_EVENTS_USERS: {
    kind: 'bug',
    status: 500,
    message: 'The option "users" of the dispatched event "{event}" must be an array of user ids',
    hint: 'Pass the ids as an array of strings.',
  },
})
