import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_CONNECTION_UNKNOWN: { kind: 'bug', status: 500, message: 'Unknown connection "{name}"', hint: '{hint}' },
  WP_CONNECTION_CLASS: {
    kind: 'user',
    status: 500,
    message: 'The connection "{name}" uses the class "{class}", which no plugin of this server provides',
    hint: 'Available classes: {known}.',
  },
  WP_CONNECTION_VARIABLE: {
    kind: 'user',
    status: 500,
    message: 'The connection "{name}" requires variables that are not set: {variables}',
    hint: 'Set them with waypost env:set, in the environment of this server or in its .env.',
  },
  WP_CONNECTION_CONFIG: {
    kind: 'user',
    status: 500,
    message: 'The config of the connection "{name}" does not match the class "{class}": {problem}',
    hint: 'Check the variables that the config refers to.',
  },
  WP_CONNECTION_DOWN: {
    kind: 'external',
    status: 503,
    message: 'Cannot open the connection "{name}": {reason}',
    hint: 'Waypost tries again on the next request.',
  },
  WP_CONNECTION_TRANSACTION: {
    kind: 'bug',
    status: 500,
    message: 'The connection "{name}" does not support transactions',
  },
})
