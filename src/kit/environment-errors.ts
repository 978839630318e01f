import { defineErrors } from './errors.ts'

export const errors = defineErrors({
  WP_KIT_ENV_FILE: {
    kind: 'user',
    status: 500,
    message: 'Cannot read {file}: {reason}',
    hint: 'Use a text file with lines of the form NAME=value, or remove the file and set the variables in the environment.',
  },
})
