import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_REMOTE_DEPLOY: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_REMOTE_DEPLOY is "{value}", but must be "on" or "off"',
    hint: 'Set it to "off" to disable deployment over HTTP. By default, tokens with the scope backend.deploy can deploy.',
  },
  WP_SERVER_VARIABLE_CONNECTION: {
    kind: 'external',
    status: 503,
    message: 'The connection "{name}" cannot be used with the changed value of {variables}: {reason}',
    hint: 'Correct the value with waypost env:set. The server keeps the previous value and tries again.',
  },
  WP_SERVER_TEST_SERVER: {
    kind: 'user',
    status: 500,
    message: '{owner} needs a PostgreSQL server for test databases',
    hint: 'Set WAYPOST_TEST_DATABASES=postgresql://USER:PASSWORD@HOST/postgres, or pass the same URL to createTestApp as the option databases. To replace a connection instead, use the option connections.',
  },
  WP_SERVER_TEST_DATABASE: {
    kind: 'external',
    status: 500,
    message: 'Cannot create a test database at {target}: {reason}',
    hint: 'Check that the server in WAYPOST_TEST_DATABASES is running and that its user can create databases.',
  },
})
