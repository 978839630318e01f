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
  WP_EVENTS_SUBSCRIPTION_UNKNOWN: { kind: 'user', status: 404, message: 'You have no subscription "{id}"' },
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
