import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_DRAIN: {
    kind: 'external',
    status: 503,
    message: 'System at {target} did not answer for {seconds} s after the end was asked for',
    hint: 'What was under way and is not recorded is posted again when its lease is over.',
  },
  WP_SERVER_CRONJOB_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'There is no cronjob "{name}" in the active release',
    hint: 'It has {known}.',
  },
  WP_SERVER_CRONJOB_BUSY: {
    kind: 'user',
    status: 409,
    message: 'The cronjob "{name}" is running already, on {server}',
    hint: 'A cronjob never runs beside itself; wait until it has ended.',
  },
  WP_SERVER_CRONJOB_TIMEOUT: {
    kind: 'user',
    status: 504,
    message: 'The cronjob "{name}" took longer than {seconds} s',
    hint: 'Give it a longer timeout in waypost.yml, or let it do less at once.',
  },
  WP_SERVER_CRONJOB_STOPPED: {
    kind: 'user',
    status: 503,
    message: 'The cronjob "{name}" was still running when its server had to stop',
    hint: 'An action that looks at context.signal can end in order.',
  },
  WP_SERVER_CRONJOB_LOST: {
    kind: 'external',
    status: 503,
    message: 'The cronjob "{name}" lost its claim in System, so that another server may run it',
    hint: 'System could not be reached in time, or the action kept its process busy without a pause.',
  },
  WP_SERVER_SYSTEM_SILENT: {
    kind: 'external',
    status: 503,
    message: 'System at {target} did not answer within {seconds} s',
    hint: 'Look whether the database runs, and at the network between it and this server.',
  },
})
