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
  WP_SERVER_TRACING_PACKAGES: {
    kind: 'user',
    status: 500,
    message: 'OpenTelemetry is asked for by its variables, and its packages are not installed beside waypost',
    hint: 'Install them: npm install @opentelemetry/api @opentelemetry/sdk-node; or set OTEL_SDK_DISABLED=true.',
  },
  WP_SERVER_CONNECTION_LIMIT: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_CONNECTION_LIMIT is "{value}", which is not a number of connections',
    hint: 'Use a whole number from 1 to 9999999, or leave it unset.',
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
  WP_SERVER_VARIABLE_TYPE: {
    kind: 'user',
    status: 500,
    message: 'The release {release} needs the variable "{name}" to be {mismatch}',
    hint: 'Correct it in the environment of this server, or in .env.',
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
  WP_SERVER_MIGRATION_FORM: {
    kind: 'user',
    status: 500,
    message: 'The default export of {file} has no up function',
    hint: 'Its default export must be an object with the methods up and down, as in the type Migration of waypost.',
  },
  WP_SERVER_MIGRATION_LOAD: {
    kind: 'user',
    status: 500,
    message: '{file} cannot be loaded: {reason}',
    hint: 'Whatever a migration needs it does in up or down; loading it must not fail.',
  },
  WP_SERVER_MIGRATIONS_EDITED: {
    kind: 'user',
    status: 409,
    message: 'Migrations of the release were applied to the target with another text: {names}',
    hint: 'Put the text back as it was, and write a new migration for the change.',
  },
  WP_SERVER_MIGRATION_CONNECTION: {
    kind: 'user',
    status: 500,
    message: 'migrations/{name}/ stands for a connection "{name}", and there is none',
    hint: 'Name it under connection: in waypost.yml, or remove the folder.',
  },
  WP_SERVER_MIGRATION_CLASS: {
    kind: 'user',
    status: 500,
    message: 'migrations/{name}/ stands for the connection "{name}", whose class "{class}" has no migrations',
    hint: 'Remove the folder, or use a connection class for a database.',
  },
})
