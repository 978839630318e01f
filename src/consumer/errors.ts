import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_CONSUMER_REFRESH: {
    kind: 'user',
    status: 401,
    message: 'The login cannot be refreshed: {reason}',
    hint: 'Log in again.',
  },
  WP_CONSUMER_LOGIN_NEEDED: {
    kind: 'user',
    status: 403,
    message: 'This operation requires a login token; yours was issued to a client',
    hint: 'Log in with POST /consumer/login and send the access token from the response.',
  },
  WP_CONSUMER_EVENT_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown event "{event}"',
    hint: 'List the events that your token may subscribe to with GET /consumer/event.',
  },
  WP_CONSUMER_CURSOR: {
    kind: 'user',
    status: 400,
    message: '"{cursor}" is not a valid cursor for this list',
    hint: 'Send the value of "next" from the previous page, or omit the cursor.',
  },
  WP_CONSUMER_SINCE: {
    kind: 'user',
    status: 400,
    message: '"{since}" is not a valid time in the past',
    hint: 'Write how long ago, such as 24h, or a time with a time zone, such as 2026-11-20T14:00:00Z.',
  },
})
