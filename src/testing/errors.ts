import { defineErrors } from '../kit/index.ts'

export const testErrors = defineErrors({
  WP_TESTING_DURATION: {
    kind: 'user',
    status: 500,
    message: '"{duration}" is not a valid duration',
    hint: 'Write it as 30s, 10m or 1h.',
  },
  WP_TESTING_PARAMETER: {
    kind: 'user',
    status: 500,
    message: 'inject("{route}") is missing the path parameter "{name}"',
    hint: 'Pass it in params.',
  },
})
