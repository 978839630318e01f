import { defineErrors } from './errors.ts'

export const errors = defineErrors({
  WP_KIT_ENV_FILE: {
    kind: 'user',
    status: 500,
    message: '{file} is not read: {reason}',
    hint: 'Make it a text file of lines NAME=value, or remove it and set the variables in the environment.',
  },
})
