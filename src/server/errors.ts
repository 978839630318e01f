import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_NO_SYSTEM: {
    kind: 'user',
    status: 500,
    message: 'There is no System database at {file}, and WAYPOST_SYSTEM_URL is not set',
    hint: 'In a pipeline set WAYPOST_SYSTEM_URL; on this machine run waypost dev or waypost migrate first.',
  },
  WP_SERVER_SECRET_MISSING: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET is not set, which System at {target} needs',
    hint: 'Set the one that System was set up with; the first time, make one: openssl rand -base64 32',
  },
  WP_SERVER_BASE_URL_MISSING: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_BASE_URL is not set, and System at {target} does not know it yet',
    hint: 'Set it to the address that callers use, for example https://api.example.com.',
  },
  WP_SERVER_BASE_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" cannot be WAYPOST_BASE_URL',
    hint: 'Use an absolute http:// or https:// address without query and fragment.',
  },
  WP_SERVER_ISSUER_CHANGED: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_BASE_URL is {given}, but the tokens of System at {target} were issued by {stored}',
    hint: 'Set WAYPOST_BASE_URL to {stored}. To change it for good: waypost issuer:change {given}',
  },
  WP_SERVER_NUMBER: {
    kind: 'user',
    status: 500,
    message: '{name} is "{value}", which is no port',
    hint: 'Use a number from 0 to 65535.',
  },
  WP_SERVER_DURATION: {
    kind: 'user',
    status: 500,
    message: '{name} is "{value}", which is no duration up to an hour',
    hint: 'Write it as 500ms, 5s or 1m.',
  },
  WP_SERVER_TRUSTED_PROXIES: {
    kind: 'user',
    status: 500,
    message: '"{value}" in WAYPOST_TRUSTED_PROXIES is no address of a proxy',
    hint: 'Write addresses and ranges, separated by commas, for example 10.0.0.5,192.168.0.0/16; or loopback, uniquelocal.',
  },
  WP_SERVER_REMOTE_DEPLOY: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_REMOTE_DEPLOY is "{value}", and can be on or off',
    hint: 'Set it to off where nobody deploys over HTTP; without it, those deploy whose token carries backend.deploy.',
  },
  WP_SERVER_DRAIN: {
    kind: 'external',
    status: 503,
    message: 'System at {target} did not answer for {seconds} s after the end was asked for',
    hint: 'What was under way and is not recorded is posted again when its lease is over.',
  },
  WP_SERVER_LOG_LEVEL: {
    kind: 'user',
    status: 500,
    message: 'LOG_LEVEL is "{value}", which is no level of a log',
    hint: 'Use one of {levels}.',
  },
  WP_SERVER_VARIABLE: {
    kind: 'user',
    status: 500,
    message: 'The variable {variables} is not set, which the release {release} needs',
    hint: 'Set it in the environment of this server, or in .env.',
  },
  WP_SERVER_SETTING: {
    kind: 'user',
    status: 500,
    message: 'The setting {name} of the release {release} cannot be used: {reason}',
    hint: 'Check the variables that it names.',
  },
  WP_SERVER_CRONJOB: {
    kind: 'user',
    status: 500,
    message: 'The cronjob {name} of the release {release} cannot be used: {reason}',
    hint: 'Check the variables that it names.',
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
