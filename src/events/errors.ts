import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_EVENTS_UNKNOWN: { kind: 'user', status: 400, message: 'There is no event "{event}"', hint: '{hint}' },
  WP_EVENTS_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'The event "{event}" is only for users with the scope {scopes}',
  },
  WP_EVENTS_LIMIT: {
    kind: 'user',
    status: 409,
    message: 'You have {limit} subscriptions, the most that one user may have',
    hint: 'Delete one that is not needed.',
  },
  WP_EVENTS_SUBSCRIPTION_UNKNOWN: { kind: 'user', status: 404, message: 'There is no subscription "{id}"' },
  WP_EVENTS_SUBSCRIPTION_SAME: {
    kind: 'user',
    status: 409,
    message: 'Your subscription "{id}" has this event and endpoint already',
    hint: 'Use that one, or delete it first.',
  },
  WP_EVENTS_SUBSCRIPTION_CLIENT: {
    kind: 'user',
    status: 403,
    message: 'The subscription "{id}" belongs to the client "{client}", which made it',
    hint: 'You can pause and delete it; withdrawing the grant of the client deletes all that it made.',
  },
  WP_EVENTS_SUBSCRIPTION_BARRED: {
    kind: 'user',
    status: 403,
    message: 'An administrator of this server disabled the subscription "{id}"',
    hint: 'Ask them to enable it again.',
  },
  WP_EVENTS_CLIENT_DISABLED: {
    kind: 'user',
    status: 409,
    message: 'The client "{client}", which made the subscription "{id}", is disabled',
    hint: 'Enable the client first.',
  },
  WP_EVENTS_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'The access token was revoked while the request was processed',
    hint: 'Ask for a new one.',
  },
  WP_EVENTS_SUBSCRIPTION_STOPPED: {
    kind: 'user',
    status: 409,
    message: 'The subscription "{id}" is {status}: nothing is sent to it',
    hint: 'Set its status to active first.',
  },
  WP_EVENTS_SENDS: {
    kind: 'user',
    status: 429,
    message: 'You asked for more than {limit} test events and replays within a minute',
    hint: 'Try again in {wait}.',
  },
  WP_EVENTS_OVERLAP: {
    kind: 'user',
    status: 400,
    message: '"{overlap}" is no time for which secrets sign beside a new one',
    hint: 'Write it as 24h, at most 7d; 0s ends them at once.',
  },
  WP_EVENTS_ROTATIONS: {
    kind: 'user',
    status: 409,
    message: 'Beside the newest secret of the subscription "{id}" {limit} others sign already, the most that may',
    hint: 'Rotate it with the overlap "0s", which ends all of them at once, or wait until one of them has ended.',
  },
  WP_EVENTS_DELIVERY_UNKNOWN: { kind: 'user', status: 404, message: 'There is no delivery "{id}"' },
  WP_EVENTS_DELIVERY_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The delivery "{id}" is still on its way',
    hint: 'It is sent when it is due; replay it when it is over.',
  },
  WP_EVENTS_REPLAY_STOPPED: {
    kind: 'user',
    status: 409,
    message: 'The subscription of the delivery "{id}" is {state}',
    hint: 'Only what is for an active or paused subscription can be sent again.',
  },
  WP_EVENTS_REPLAY_PRUNED: {
    kind: 'user',
    status: 409,
    message: 'The data of the delivery "{id}" is not kept any more',
    hint: 'The setting keep.messages says for how long it is.',
  },
  WP_EVENTS_DISPATCH_UNKNOWN: {
    kind: 'bug',
    status: 500,
    message: 'An action dispatched the event "{event}", which waypost.yml does not name',
    hint: '{hint}',
  },
  WP_EVENTS_DATA: {
    kind: 'bug',
    status: 500,
    message: 'The data dispatched with the event "{event}" cannot be written as JSON',
  },
  WP_EVENTS_SCHEMA: {
    kind: 'bug',
    status: 500,
    message: 'The data dispatched with the event "{event}" does not fit its schema: {problems}',
    hint: 'Dispatch what the schema of the event in waypost.yml says, or change that.',
  },
  WP_EVENTS_USERS: {
    kind: 'bug',
    status: 500,
    message: 'The event "{event}" was dispatched to users that are no list of ids',
    hint: 'Pass the ids of users as a list of texts.',
  },
})
