import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_REMOTE_DEPLOY: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_REMOTE_DEPLOY is "{value}", and can be on or off',
    hint: 'Set it to off where nobody deploys over HTTP; without it, those deploy whose token carries backend.deploy.',
  },
})
