import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_CONSUMER_REFRESH: {
    kind: 'user',
    status: 401,
    message: 'The login cannot be renewed: {reason}',
    hint: 'Log in again.',
  },
  WP_CONSUMER_LOGIN_NEEDED: {
    kind: 'user',
    status: 403,
    message: 'This needs the token of a login; yours belongs to a client',
    hint: 'Log in with POST /consumer/login and send the token of its answer.',
  },
  WP_CONSUMER_CURSOR: {
    kind: 'user',
    status: 400,
    message: '"{cursor}" is no cursor of this list',
    hint: 'Send the "next" of the page before, or none.',
  },
  WP_CONSUMER_SINCE: {
    kind: 'user',
    status: 400,
    message: '"{since}" is no moment of the past',
    hint: 'Write how long ago, as in 24h, or a time with its zone, as in 2026-11-20T14:00:00Z.',
  },
})
