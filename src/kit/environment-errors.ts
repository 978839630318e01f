import { defineErrors } from './errors.ts'

export const errors = defineErrors({
  WP_KIT_ENV_FILE: {
    kind: 'user',
    status: 500,
    message: 'Cannot read {file}: {reason}',
    hint: 'Use a text file with lines of the form NAME=value, or remove the file and set the variables in the environment.',
  },
  WP_KIT_MODE: {
    kind: 'user',
    status: 500,
    message: '"{mode}" is not a valid mode',
    hint: 'Set WAYPOST_MODE to a name such as development or staging: letters, digits, - and _. "local" is reserved for .env.local.',
  },
})
