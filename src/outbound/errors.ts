import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_OUTBOUND_URL: {
    kind: 'user',
    status: 400,
    message: '"{url}" is no address that can be posted to',
    hint: 'Use an absolute http:// or https:// URL without a user name, password or fragment.',
  },
  WP_OUTBOUND_HOST_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'The host "{host}" has no address',
    hint: 'Check the spelling, and that the name resolves on this server.',
  },
  WP_OUTBOUND_BUSY: {
    kind: 'external',
    status: 503,
    message: 'Too many addresses are being looked up',
    hint: 'Try again in a moment.',
  },
  WP_OUTBOUND_ADDRESS: {
    kind: 'user',
    status: 400,
    message: 'The host "{host}" is not on the public internet',
    hint: 'An operator opens ranges with the setting delivery_allow; a development System allows loopback.',
  },
})
