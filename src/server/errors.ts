import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_REMOTE_DEPLOY: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_REMOTE_DEPLOY is "{value}", and can be on or off',
    hint: 'Set it to off where nobody deploys over HTTP; without it, those deploy whose token carries backend.deploy.',
  },
  WP_SERVER_TEST_SERVER: {
    kind: 'user',
    status: 500,
    message: '{owner} needs a PostgreSQL server for test databases',
    hint: 'Set WAYPOST_TEST_DATABASES=postgresql://USER:PASSWORD@HOST/postgres, or pass it to createTestApp as databases. A connection can be replaced instead: the option connections.',
  },
  WP_SERVER_TEST_DATABASE: {
    kind: 'external',
    status: 500,
    message: 'A test database cannot be created at {target}: {reason}',
    hint: 'Start the server that WAYPOST_TEST_DATABASES names, with a user that may create databases.',
  },
})
