import { defineErrors } from '../../src/kit/index.ts'

/** Errors of the command line. Wrong usage has exit code 2; a missing confirmation is none, so that it is 1 everywhere. */
export const errors = defineErrors({
  WP_CLI_COMMAND_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'Unknown command "{command}"',
    hint: '{next}',
  },
  WP_CLI_COMMAND_TWICE: {
    kind: 'user',
    status: 400,
    message: 'Two plugins provide the command "{command}": {first} and {second}',
    hint: 'Remove one of them from "plugins:" in waypost.yml.',
  },
  WP_CLI_FLAG_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'Unknown flag "{flag}"',
    hint: '{next}',
  },
  WP_CLI_USAGE: {
    kind: 'user',
    status: 400,
    message: '{problem}',
    hint: 'See waypost {command} --help.',
  },
  WP_CLI_CONFIRM: {
    kind: 'user',
    status: 409,
    message: 'This command requires confirmation, but there is no terminal; nothing was changed',
    hint: 'To confirm without a terminal, add --yes.',
  },
  WP_CLI_STDIN: {
    kind: 'user',
    status: 400,
    message: 'Cannot read the value on standard input: {reason}',
    hint: 'Send UTF-8. In Windows PowerShell, set $OutputEncoding = [Text.UTF8Encoding]::new() first.',
  },
  WP_CLI_STDOUT: {
    kind: 'external',
    status: 500,
    message: 'Cannot write the output: {reason}',
    hint: 'Free some disk space, or redirect the output.',
  },
  WP_CLI_OUTPUT: {
    kind: 'user',
    status: 500,
    message: 'Cannot write "{file}": {reason}',
    hint: 'Choose another file, or omit --output to print.',
  },
  WP_CLI_INSPECT: {
    kind: 'user',
    status: 500,
    message: 'Cannot open the inspector on port {port}: {reason}',
    hint: 'Choose another port, or use any free port: --inspect=0',
  },
  WP_CLI_MANIFEST: {
    kind: 'user',
    status: 500,
    message: 'Cannot describe the commands of this package: {reason}',
    hint: 'See docs/plugins.md for the "oclif" section of package.json. Build the package first.',
  },
  WP_CLI_UNEXPECTED: {
    kind: 'bug',
    status: 500,
    message: '{problem}',
    hint: 'Run the command again with --verbose to see the stack.',
  },
})
