import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_OUTBOUND_URL: {
    kind: 'user',
    status: 400,
    message: '"{url}" is not a valid endpoint URL',
    hint: 'Use an absolute http:// or https:// URL without a user name, password or fragment.',
  },
  WP_OUTBOUND_HOST_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'The host "{host}" cannot be resolved',
    hint: 'Check the spelling, and that this server can resolve the name.',
  },
  WP_OUTBOUND_PROXY: {
    kind: 'user',
    status: 500,
    message: 'The variable {variable} is not the URL of a proxy',
    hint: 'Use http://HOST:PORT or https://HOST:PORT, with user:password@ before the host if the proxy requires it.',
  },
  WP_OUTBOUND_BUSY: {
    kind: 'external',
    status: 503,
    message: 'Too many host names are being resolved',
    hint: 'Try again in a moment.',
  },
  WP_OUTBOUND_ADDRESS: {
    kind: 'user',
    status: 400,
    message: 'The host "{host}" is not on the public internet',
    hint: 'Operators can allow address ranges with the setting delivery_allow; a development System allows loopback.',
  },
})
