import { defineErrors } from '../kit/index.ts'

const user = { kind: 'user', status: 422 } as const

/** Problems of a definition. They become diagnostics and are never thrown, except for a refused edit. */
export const errors = defineErrors({
  WP_DEFINITION_FILE_MISSING: {
    ...user,
    message: 'There is no waypost.yml in this folder',
    hint: "Change to the project's folder, or create a project: waypost init DIR",
  },
  WP_DEFINITION_EMPTY: {
    ...user,
    message: 'waypost.yml is empty',
    hint: 'Write at least "routes:", or generate a first route: waypost generate:route METHOD PATH',
  },
  WP_DEFINITION_FILE_REFUSED: { ...user, message: 'Cannot read {file}: {reason}' },
  WP_DEFINITION_EDIT_REFUSED: {
    ...user,
    message: 'Cannot change {file}:{line} automatically: {reason}',
    hint: 'Change the file by hand',
  },
  WP_DEFINITION_YAML: { ...user, message: '{problem}' },
  WP_DEFINITION_JSON: { ...user, message: '{problem}' },
  WP_DEFINITION_TAG_UNKNOWN: {
    ...user,
    message: 'Unknown tag "{tag}"',
    hint: 'The only tag is !include FILE. Quote text that begins with "!"',
  },
  WP_DEFINITION_ALIAS_UNKNOWN: {
    ...user,
    message: 'The anchor "{name}" is not defined before this alias',
    hint: 'Define it with &{name}, or quote text that begins with "*"',
  },
  WP_DEFINITION_TOO_LARGE: {
    ...user,
    message: 'With includes and aliases expanded, the definition has more than {limit} values',
    hint: 'Use fewer aliases and !include tags; name shared schemas instead',
  },
  WP_DEFINITION_ALIASES: {
    ...user,
    message: 'Aliases and merge keys repeat more than {limit} values',
    hint: 'Move repeated parts into a named schema, action or scope, or into a separate file',
  },
  WP_DEFINITION_TOO_MANY: {
    ...user,
    message: 'More than {limit} problems; the rest are not shown',
    hint: 'Fix the problems above first',
  },
  WP_DEFINITION_TOO_DEEP: { ...user, message: 'Values are nested more than {limit} levels deep' },
  WP_DEFINITION_KEY_DUPLICATE: {
    ...user,
    message: 'Duplicate key "{key}"',
    hint: 'It is first defined at {first}. Remove one of the two',
  },
  WP_DEFINITION_KEY_INVALID: { ...user, message: 'A key must be a string', hint: 'Quote the key' },
  WP_DEFINITION_KEY_UNKNOWN: { ...user, message: '"{key}" is not a valid key of {owner}' },
  WP_DEFINITION_KEY_MISSING: { ...user, message: '"{key}" is missing, but required in {owner}' },
  WP_DEFINITION_VALUE_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_NAME_INVALID: { ...user, message: '"{name}" is not a valid name for {owner}' },
  WP_DEFINITION_MIGRATION: { ...user, message: '{problem}' },
  WP_DEFINITION_INCLUDE_INVALID: {
    ...user,
    message: '"{target}" cannot be included',
    hint: 'Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
  },
  WP_DEFINITION_INCLUDE_MISSING: { ...user, message: 'File not found: {file}' },
  WP_DEFINITION_INCLUDE_CYCLE: { ...user, message: '"{target}" includes itself', hint: '{chain}' },
  WP_DEFINITION_INCLUDE_OUTSIDE: {
    ...user,
    message: '"{target}" is outside the project',
    hint: 'Copy the file into the project: only files in its folder are deployed',
  },
  WP_DEFINITION_INCLUDE_POINTER: { ...user, message: '"{pointer}" does not exist in {file}' },
  WP_DEFINITION_ENV_PLACE: {
    ...user,
    message: '"{reference}" is not allowed here',
    hint: 'Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
  },
  WP_DEFINITION_ENV_INVALID: {
    ...user,
    message: '"{reference}" is not a valid variable reference',
    hint: 'Write ${env.NAME} or ${env.NAME:-default}',
  },
  WP_DEFINITION_ENV_DEFAULT: {
    ...user,
    message: 'The default of "{name}" cannot be used in a config: it contains a brace',
    hint: 'Change the default under env:, or remove it and set {name} on each server',
  },
  WP_DEFINITION_ENV_RESERVED: {
    ...user,
    message: 'The variable "{name}" is reserved for Waypost',
    hint: 'Rename the variable',
  },
  WP_DEFINITION_ENV_MISSING: {
    ...user,
    message: 'The variable "{name}" is not set',
    hint: 'Set {name} in the environment, in .env or in System (env:set), or add a default: ${env.{name}:-default}',
  },
  WP_DEFINITION_ENV_TYPE: {
    ...user,
    message: 'The variable "{name}" must be {mismatch}',
    hint: 'Correct its value in the environment or in .env, or change its type here',
  },
  WP_DEFINITION_PATH_INVALID: { ...user, message: '"{path}" is not a valid path: {reason}' },
  WP_DEFINITION_PATH_RESERVED: {
    ...user,
    message: '"{path}" is reserved: {reserved} and all paths below it belong to Waypost',
    hint: 'Choose another path',
  },
  WP_DEFINITION_PATH_PARAMETER: { ...user, message: '{problem}' },
  WP_DEFINITION_ROUTE_DUPLICATE: {
    ...user,
    message: '"{path}" matches the same requests as "{other}"',
    hint: '"{other}" is defined at {first}. Put the methods of both into one route',
  },
  WP_DEFINITION_OPERATION_DUPLICATE: {
    ...user,
    message: 'The operationId "{id}" is the same as "{other}" at {first}',
    hint: 'Give each method its own operationId. Case and "_" are ignored, because generated clients may change them',
  },
  WP_DEFINITION_SCOPE_MISSING: {
    ...user,
    message: '{method} {path} is private, but has no scope',
    hint: 'Add scopes: [NAME] (or [] for any valid token) to the method or its route, or public: true',
  },
  WP_DEFINITION_PUBLIC_CHANGE: {
    ...user,
    message: '{method} {path} changes data, and anyone can call it without limit',
    hint: 'Add scopes: [NAME] and remove public: true, or limit it with rate: NAME',
  },
  WP_DEFINITION_PUBLIC_SCOPES: {
    ...user,
    message: '{method} {path} is public, so its scopes are ignored and no token is needed',
    hint: 'Remove public: true to require a token, or remove "scopes"',
  },
  WP_DEFINITION_STEP_REMOVED: {
    ...user,
    message: '{method} {path} {text}',
    hint: 'Confirm it if the step is no longer needed, or add the step again',
  },
  WP_DEFINITION_SCOPE_UNDECLARED: {
    ...user,
    message: '"{name}" is not a declared scope',
    hint: 'Declare it under "scope:"',
  },
  WP_DEFINITION_ARRAY_UNLIMITED: {
    ...user,
    message: 'This array in a request has no maximum length',
    hint: 'Add maxItems, for example maxItems: 100',
  },
  WP_DEFINITION_ALTERNATIVES_RECURSIVE: {
    ...user,
    message: 'The alternatives of this recursive schema cannot be distinguished, so deep request bodies are rejected',
    hint: 'Give each alternative a required property with a different const, for example kind: { const: book }',
  },
  WP_DEFINITION_DEPRECATED_DATE: {
    ...user,
    message: '"{path}" is deprecated without a date, so responses have no Deprecation header',
    hint: 'Add the date: deprecated: 2027-01-31',
  },
  WP_DEFINITION_REQUEST_UNUSED: {
    ...user,
    message: 'A GET request has no body',
    hint: 'Describe the query with "parameters"',
  },
  WP_DEFINITION_RESPONSE_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_PARAMETERS_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_UNKNOWN: { ...user, message: 'Unknown schema "{name}"' },
  WP_DEFINITION_SCHEMA_UNUSED: {
    ...user,
    message: 'The schema "{name}" is not used',
    hint: 'Use it in a route, an event or another schema, or remove it',
  },
  WP_DEFINITION_SCHEMA_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_REQUIRED: {
    ...user,
    message: '"{name}" is required, but not listed in "properties"',
    hint: 'If it may have any value, add it to "properties" as {name}: true',
  },
  WP_DEFINITION_SCHEMA_REFERENCE: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_LOOP: {
    ...user,
    message: 'The schema refers to itself endlessly: {chain}',
    hint: 'A schema may only refer to itself inside "properties", "items" and similar keywords',
  },
  WP_DEFINITION_EVENT_UNKNOWN: { ...user, message: 'Unknown event "{name}"' },
  WP_DEFINITION_DISPATCH_IMPOSSIBLE: {
    ...user,
    message: 'The event "{event}" rejects every {status} response of {method} {path}: {reason}',
    hint: 'Use one named schema for the response and the event, or change one of the two',
  },
  WP_DEFINITION_DISPATCH_TYPE: {
    ...user,
    message: '{method} {path} cannot dispatch "{event}": its response is {types}, and only JSON is dispatched',
    hint: 'Remove "dispatch", and dispatch the data in the action: context.dispatch("{event}", data)',
  },
  WP_DEFINITION_DISPATCH_UNSURE: {
    ...user,
    message: 'The event "{event}" may reject the {status} response of {method} {path}: {reason}',
    hint: 'Such a request fails with 500. Use one named schema for the response and the event, or change one of the two',
  },
  WP_DEFINITION_SECRET_LITERAL: {
    ...user,
    message: 'The value of "{key}" contains a password or another secret, which every release would store',
    hint: 'Write "${env.NAME}" instead, and set NAME in the environment or in .env',
  },
  WP_DEFINITION_EVENT_OPEN: {
    ...user,
    message:
      'Every user with the scope consumer can subscribe to the event "{name}" and receive data that is dispatched without "users", but no public route exposes its data',
    hint: 'Add scopes: [NAME] to limit who can subscribe, or scopes: [] if every user may subscribe',
  },
  WP_DEFINITION_EVENT_DEFAULT_SCOPE: {
    ...user,
    message:
      'Every new user gets the scope "{scope}", so everyone can subscribe to the event "{name}" and receive data that is dispatched without "users"',
    hint: 'Use a scope that is not in scopes_default, or write scopes: [] if every user may subscribe',
  },
  WP_DEFINITION_RATE_UNKNOWN: { ...user, message: 'Unknown rate "{name}"' },
  WP_DEFINITION_RATE_CONNECTION: {
    ...user,
    message: 'The connection "{name}" cannot count requests: its class does not have the capability "count"',
  },
  WP_DEFINITION_ACTION_UNKNOWN: { ...user, message: 'Unknown action "{name}"' },
  WP_DEFINITION_ACTION_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_CLASS_UNKNOWN: { ...user, message: 'Unknown {kind} class "{name}"' },
  WP_DEFINITION_CONNECTION_UNKNOWN: { ...user, message: 'Unknown connection "{name}"' },
  WP_DEFINITION_CLASS_CONFIG: { ...user, message: '{problem}' },
  WP_DEFINITION_CRON_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SETTING_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SETTING_REMOVED: {
    ...user,
    message: 'The setting "{name}" no longer has an effect',
    hint: 'Remove it.',
  },
})

/** Errors of `build` that the definition alone reveals are reported here, with the same code. */
export const foreignErrors = {
  WP_BUILD_ACTION_MISSING: { message: 'File not found: {file}' },
} as const

export type DefinitionCode = keyof typeof errors.table | keyof typeof foreignErrors
