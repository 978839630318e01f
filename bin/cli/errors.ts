import { defineErrors } from '../../src/kit/index.ts'

/** What goes wrong around a command. What a user typed wrongly is wrong usage: exit code 2. */
export const errors = defineErrors({
  WP_CLI_COMMAND_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'There is no command "{command}"',
    hint: '{next}',
  },
  WP_CLI_FLAG_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'There is no flag "{flag}"',
    hint: '{next}',
  },
  WP_CLI_USAGE: {
    kind: 'user',
    status: 400,
    message: '{problem}',
    hint: 'waypost {command} --help shows how it is used.',
  },
  WP_CLI_STDOUT: {
    kind: 'external',
    status: 500,
    message: 'What was printed cannot be written: {reason}',
    hint: 'Make room where the output goes, or send it elsewhere.',
  },
  WP_CLI_OUTPUT: {
    kind: 'user',
    status: 500,
    message: '"{file}" cannot be written: {reason}',
    hint: 'Name another file, or leave --output away to print.',
  },
  WP_CLI_INSPECT: {
    kind: 'user',
    status: 500,
    message: 'No debugger can attach at port {port}: {reason}',
    hint: 'Choose another one, or any that is free: --inspect=0',
  },
  WP_CLI_UNEXPECTED: {
    kind: 'bug',
    status: 500,
    message: '{problem}',
    hint: 'Run it again with --verbose to see where it comes from.',
  },
})
