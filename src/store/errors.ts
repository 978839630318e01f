import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_STORE_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" is no address of a System database',
    hint: 'Set WAYPOST_SYSTEM_URL to postgresql://USER:PASSWORD@HOST/DATABASE or sqlite:FILE.',
  },
  WP_STORE_NOT_MIGRATED: {
    kind: 'user',
    status: 503,
    message: 'System at {target} lacks tables that this Waypost needs',
    hint: 'Run waypost migrate against it first.',
  },
  WP_STORE_NEWER: {
    kind: 'user',
    status: 503,
    message: 'System at {target} was migrated by a newer Waypost: it has "{name}"',
    hint: 'Install that version of waypost here.',
  },
  WP_STORE_SEALED: {
    kind: 'user',
    status: 500,
    message: 'A secret in System cannot be opened with this WAYPOST_SECRET',
    hint: 'Set WAYPOST_SECRET to the value that System was set up with; "new,old" while it changes.',
  },
  WP_STORE_SECRET_CHANGED: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET is not the one that System at {target} was set up with',
    hint: 'Set the one that System has now, after secret:rotate the new one. To change it, set WAYPOST_SECRET to "new,old" and run waypost secret:rotate.',
  },
  WP_STORE_SECRET_SHORT: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET has {length} characters; at least 32 are needed',
    hint: 'Make one: openssl rand -base64 32',
  },
  WP_STORE_FEED_STALE: {
    kind: 'external',
    status: 503,
    message: 'System does not answer, so it cannot be known which tokens were revoked',
    hint: 'Try again when the database is reachable.',
  },
})
