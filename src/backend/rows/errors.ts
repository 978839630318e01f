import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_BACKEND_DATA_OFF: {
    kind: 'user',
    status: 403,
    message: 'The backend of this server does not show rows: WAYPOST_BACKEND_DATA is not "on"',
    hint: 'Set WAYPOST_BACKEND_DATA=on in the environment of the server and restart it. Then grant the scope backend.data to users who may see and change rows.',
  },
  WP_BACKEND_TABLE_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The active release has no table "{table}" in the connection {connection}',
    hint: 'See the page Tables for all tables. To add a table, run waypost migrate, which writes tables.json, and deploy.',
  },
  WP_BACKEND_ROWS_FIXED: {
    kind: 'user',
    status: 409,
    message: 'Rows of "{table}" cannot be changed in this way: {problem}',
  },
  WP_BACKEND_ROW_KEY: {
    kind: 'user',
    status: 400,
    message: 'A row of "{table}" is identified by {key}: send a JSON array with one value for each',
  },
  WP_BACKEND_ROW_JSON: {
    kind: 'user',
    status: 400,
    message: 'The value of "{column}" {problem}',
  },
  WP_BACKEND_IMPORT_BUSY: {
    kind: 'user',
    status: 503,
    message: 'This server is importing another file',
    hint: 'Try again when it is done.',
  },
  WP_BACKEND_IMPORT_SIZE: {
    kind: 'user',
    status: 413,
    message: 'The file has more than {limit} bytes',
    hint: 'Split it, or load it with the tools of the database.',
  },
  WP_BACKEND_ROW_CONDITION: {
    kind: 'user',
    status: 428,
    message: 'The request has no If-Match header',
    hint: 'Send If-Match with the "etag" from the list of rows. Otherwise, you could overwrite a change by someone else.',
  },
})
