import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_CONSUMER_REFRESH: {
    kind: 'user',
    status: 401,
    message: 'The login cannot be renewed: {reason}',
    hint: 'Log in again.',
  },
})
