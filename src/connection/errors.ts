import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_CONNECTION_UNKNOWN: { kind: 'bug', status: 500, message: 'There is no connection "{name}"', hint: '{hint}' },
  WP_CONNECTION_CLASS: {
    kind: 'user',
    status: 500,
    message: 'The connection "{name}" names the class "{class}", which no plugin of this server has',
    hint: 'Classes are {known}.',
  },
  WP_CONNECTION_VARIABLE: {
    kind: 'user',
    status: 500,
    message: 'The variable {variables} is not set, which the connection "{name}" needs',
    hint: 'Set it in the environment of this server, or in .env.',
  },
  WP_CONNECTION_CONFIG: {
    kind: 'user',
    status: 500,
    message: 'The config of the connection "{name}" does not fit the class "{class}": {problem}',
    hint: 'Check the variables that it names.',
  },
  WP_CONNECTION_DOWN: {
    kind: 'external',
    status: 503,
    message: 'The connection "{name}" cannot be opened: {reason}',
    hint: 'It is tried again with the next request.',
  },
  WP_CONNECTION_TRANSACTION: {
    kind: 'bug',
    status: 500,
    message: 'The connection "{name}" has no transactions',
  },
})
