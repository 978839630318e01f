import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_DRAIN: {
    kind: 'external',
    status: 503,
    message: 'System at {target} did not respond for {seconds} s during shutdown',
    hint: 'Deliveries in progress that could not be recorded are sent again by another worker.',
  },
  WP_SERVER_CRONJOB_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The active release has no cronjob "{name}"',
    hint: 'Available cronjobs: {known}.',
  },
  WP_SERVER_CRONJOB_BUSY: {
    kind: 'user',
    status: 409,
    message: 'The cronjob "{name}" is already running on {server}',
    hint: 'Only one run at a time is allowed. Wait until it has finished.',
  },
  WP_SERVER_CRONJOB_TIMEOUT: {
    kind: 'user',
    status: 504,
    message: 'The cronjob "{name}" took longer than {seconds} s',
    hint: 'Set a longer timeout in waypost.yml, or do less work per run.',
  },
  WP_SERVER_CRONJOB_STOPPED: {
    kind: 'user',
    status: 503,
    message: 'The cronjob "{name}" was still running when its server shut down',
    hint: 'Check context.signal in the action to stop cleanly.',
  },
  WP_SERVER_CRONJOB_LOST: {
    kind: 'external',
    status: 503,
    message: 'The cronjob "{name}" lost its claim in System, so another server may run it',
    hint: 'System was unreachable for too long, or the action blocked its process.',
  },
  WP_SERVER_LISTENER_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The active release has no listener "{name}"',
    hint: 'Available listeners: {known}.',
  },
  WP_SERVER_LISTENER_TIMEOUT: {
    kind: 'user',
    status: 504,
    message: 'The listener "{name}" took longer than {seconds} s',
    hint: 'Set a longer timeout in waypost.yml, or do less work per run.',
  },
  WP_SERVER_LISTENER_ONCE: {
    kind: 'user',
    status: 504,
    message: 'The listener "{name}" with "once" took longer than {seconds} s, the limit on SQLite',
    hint: 'Its transaction blocks all other writes. Do less work per run, or use PostgreSQL.',
  },
  WP_SERVER_SYSTEM_SILENT: {
    kind: 'external',
    status: 503,
    message: 'System at {target} did not respond within {seconds} s',
    hint: 'Check that the database is running and reachable from this server.',
  },
})
