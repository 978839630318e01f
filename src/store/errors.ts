import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_STORE_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" is not a valid System database URL',
    hint: 'Set WAYPOST_SYSTEM_URL to postgresql://USER:PASSWORD@HOST/DATABASE or sqlite:FILE.',
  },
  WP_STORE_NOT_MIGRATED: {
    kind: 'user',
    status: 503,
    message: 'System at {target} is missing tables that this version of Waypost needs',
    hint: 'Run waypost migrate first.',
  },
  WP_STORE_NEWER: {
    kind: 'user',
    status: 503,
    message: 'System at {target} was migrated by a newer version of Waypost: it has the migration "{name}"',
    hint: 'Install that version of Waypost here.',
  },
  WP_STORE_SEALED: {
    kind: 'user',
    status: 500,
    message: 'A secret in System cannot be decrypted with this WAYPOST_SECRET',
    hint: 'Set WAYPOST_SECRET to the secret that System was set up with, or to "new,old" during a rotation.',
  },
  WP_STORE_SECRET_CHANGED: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET is not the secret that System at {target} was set up with',
    hint: 'Set it to the current secret (the new one after secret:rotate). To change the secret, set WAYPOST_SECRET to "new,old" and run waypost secret:rotate.',
  },
  WP_STORE_SECRET_ROTATING: {
    kind: 'user',
    status: 500,
    message: 'System at {target} has values that are encrypted with a newer secret than WAYPOST_SECRET',
    hint: 'waypost secret:rotate is running, or was interrupted. Set WAYPOST_SECRET to "new,old", and run waypost secret:rotate to complete it.',
  },
  WP_STORE_SECRET_SHORT: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET is too short: it has {length} characters, but at least 32 are required',
    hint: 'Generate a secret: openssl rand -base64 32',
  },
  WP_STORE_CURSOR: {
    kind: 'user',
    status: 400,
    message: 'The cursor is not valid for this list',
    hint: 'Send the value of "next" from the previous page, with the same sort, or omit it for the first page.',
  },
  WP_STORE_FEED_STALE: {
    kind: 'external',
    status: 503,
    message: 'System does not respond, so revoked tokens cannot be detected',
    hint: 'Try again when the database is reachable.',
  },
})
