import { defineErrors } from '../kit/index.ts'

const user = { kind: 'user', status: 422 } as const

/** What can be wrong with a definition. All of them become diagnostics and are never thrown. */
export const errors = defineErrors({
  WP_DEFINITION_FILE_MISSING: {
    ...user,
    message: 'There is no waypost.yml in this folder',
    hint: "Go to the project's folder, or make a new project: waypost init DIR",
  },
  WP_DEFINITION_EMPTY: {
    ...user,
    message: 'waypost.yml is empty',
    hint: 'Write at least "routes:", or make a first one: waypost generate:route METHOD PATH',
  },
  WP_DEFINITION_FILE_REFUSED: { ...user, message: '{file} cannot be read: {reason}' },
  WP_DEFINITION_YAML: { ...user, message: '{problem}' },
  WP_DEFINITION_JSON: { ...user, message: '{problem}' },
  WP_DEFINITION_TAG_UNKNOWN: {
    ...user,
    message: 'There is no tag "{tag}"',
    hint: 'The only tag is !include FILE; quote a text that begins with "!"',
  },
  WP_DEFINITION_ALIAS_UNKNOWN: {
    ...user,
    message: 'There is no anchor "{name}" before this alias',
    hint: 'Write &{name} where the value stands, or quote a text that begins with "*"',
  },
  WP_DEFINITION_TOO_LARGE: {
    ...user,
    message: 'With all that is included and repeated, the definition has more than {limit} values',
    hint: 'Repeat less by alias and !include; give shared schemas a name',
  },
  WP_DEFINITION_TOO_MANY: {
    ...user,
    message: 'There are more problems than {limit}; those from here on are not shown',
    hint: 'Mend what is shown first',
  },
  WP_DEFINITION_TOO_DEEP: { ...user, message: 'Values are nested more than {limit} levels deep' },
  WP_DEFINITION_KEY_DUPLICATE: {
    ...user,
    message: 'The key "{key}" stands twice',
    hint: 'It stands first at {first}; remove one of the two',
  },
  WP_DEFINITION_KEY_INVALID: { ...user, message: 'A key must be a text', hint: 'Quote the key' },
  WP_DEFINITION_KEY_UNKNOWN: { ...user, message: '"{key}" is no key of {owner}' },
  WP_DEFINITION_KEY_MISSING: { ...user, message: '"{key}" is missing; {owner} needs it' },
  WP_DEFINITION_VALUE_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_NAME_INVALID: { ...user, message: '"{name}" cannot be the name of {owner}' },
  WP_DEFINITION_INCLUDE_INVALID: {
    ...user,
    message: '"{target}" cannot be included',
    hint: 'Write !include FILE.yml, FILE.json or FILE.yml#/json/pointer, relative to this file',
  },
  WP_DEFINITION_INCLUDE_MISSING: { ...user, message: 'There is no file {file}' },
  WP_DEFINITION_INCLUDE_CYCLE: { ...user, message: '"{target}" includes itself', hint: '{chain}' },
  WP_DEFINITION_INCLUDE_OUTSIDE: {
    ...user,
    message: '"{target}" is outside of the project',
    hint: 'Copy the file into the project; everything that is deployed stands in its folder',
  },
  WP_DEFINITION_INCLUDE_POINTER: { ...user, message: 'There is nothing at "{pointer}" in {file}' },
  WP_DEFINITION_ENV_PLACE: {
    ...user,
    message: '"{reference}" may not stand here',
    hint: 'Variables may stand in the config of a connection or an action, in config and in cronjob',
  },
  WP_DEFINITION_ENV_INVALID: {
    ...user,
    message: '"{reference}" is no reference to a variable',
    hint: 'Write ${env.NAME} or ${env.NAME:-default}',
  },
  WP_DEFINITION_ENV_RESERVED: {
    ...user,
    message: 'The variable "{name}" is Waypost\'s own and may not be used here',
    hint: 'Give the variable another name',
  },
  WP_DEFINITION_ENV_MISSING: {
    ...user,
    message: 'The variable "{name}" is not set',
    hint: 'Set {name} in the environment or in .env, or give a default: ${env.{name}:-default}',
  },
  WP_DEFINITION_ENV_TYPE: {
    ...user,
    message: 'The variable "{name}" must be {mismatch}',
    hint: 'Correct its value in the environment or in .env, or its type here',
  },
  WP_DEFINITION_PATH_INVALID: { ...user, message: '"{path}" is no path: {reason}' },
  WP_DEFINITION_PATH_RESERVED: {
    ...user,
    message: '"{path}" is reserved: {reserved} with all below it belongs to Waypost',
    hint: 'Choose another path',
  },
  WP_DEFINITION_PATH_PARAMETER: { ...user, message: '{problem}' },
  WP_DEFINITION_ROUTE_DUPLICATE: {
    ...user,
    message: '"{path}" answers the same requests as "{other}"',
    hint: '"{other}" stands at {first}; put the methods of both into one route',
  },
  WP_DEFINITION_SCOPE_MISSING: {
    ...user,
    message: '{method} {path} is private and names no scope',
    hint: 'Add scopes: [NAME] (or [] for any valid token) to it or its route, or public: true',
  },
  WP_DEFINITION_PUBLIC_CHANGE: {
    ...user,
    message: '{method} {path} changes data, and everybody may call it as often as they like',
    hint: 'Add scopes: [NAME] and remove public: true, or limit it: rate: NAME',
  },
  WP_DEFINITION_PUBLIC_SCOPES: {
    ...user,
    message: '{subject} is public, so its scopes are ignored and no token is needed',
    hint: 'Remove public: true to require a token, or remove scopes',
  },
  WP_DEFINITION_SCOPE_UNDECLARED: {
    ...user,
    message: '"{name}" is not a declared scope',
    hint: 'Declare it below "scope:"',
  },
  WP_DEFINITION_ARRAY_UNLIMITED: {
    ...user,
    message: 'This array of a request may contain any number of items',
    hint: 'Add maxItems, for example maxItems: 100',
  },
  WP_DEFINITION_DEPRECATED_DATE: {
    ...user,
    message: '"{path}" is deprecated without a date, so that callers are not told',
    hint: 'Say since when: deprecated: 2027-01-31',
  },
  WP_DEFINITION_REQUEST_UNUSED: { ...user, message: 'A GET has no body', hint: 'Describe the query by "parameters"' },
  WP_DEFINITION_RESPONSE_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_PARAMETERS_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_UNKNOWN: { ...user, message: 'There is no schema "{name}"' },
  WP_DEFINITION_SCHEMA_UNUSED: {
    ...user,
    message: 'Nothing uses the schema "{name}"',
    hint: 'Name it in a route, an event or another schema, or remove it',
  },
  WP_DEFINITION_SCHEMA_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_REFERENCE: { ...user, message: '{problem}' },
  WP_DEFINITION_SCHEMA_LOOP: {
    ...user,
    message: 'The schema refers to itself without an end: {chain}',
    hint: 'A schema may refer to itself only below "properties", "items" and the like',
  },
  WP_DEFINITION_EVENT_UNKNOWN: { ...user, message: 'There is no event "{name}"' },
  WP_DEFINITION_SECRET_LITERAL: {
    ...user,
    message: 'The value of "{key}" contains a password or another secret, which every release would store',
    hint: 'Write "${env.NAME}" instead, and set NAME in the environment or in .env',
  },
  WP_DEFINITION_EVENT_OPEN: {
    ...user,
    message: 'Every consumer may subscribe to the event "{name}", and no public route shows its data',
    hint: 'Add scopes: [NAME], so that only who holds one of them may subscribe',
  },
  WP_DEFINITION_EVENT_DEFAULT_SCOPE: {
    ...user,
    message: 'Every new user gets the scope "{scope}", so everyone may receive the event "{name}"',
    hint: 'Name a scope that is not in scopes_default, or write scopes: [] if the data is for every user',
  },
  WP_DEFINITION_RATE_UNKNOWN: { ...user, message: 'There is no rate "{name}"' },
  WP_DEFINITION_ACTION_UNKNOWN: { ...user, message: 'There is no action "{name}"' },
  WP_DEFINITION_ACTION_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_CLASS_UNKNOWN: { ...user, message: 'There is no {kind} class "{name}"' },
  WP_DEFINITION_CLASS_CONFIG: { ...user, message: '{problem}' },
  WP_DEFINITION_CRON_INVALID: { ...user, message: '{problem}' },
  WP_DEFINITION_SETTING_INVALID: { ...user, message: '{problem}' },
})

/** What `build` finds out later is said here already, with its code, where the definition alone shows it. */
export const foreignErrors = {
  WP_BUILD_ACTION_MISSING: { message: 'There is no file {file}' },
} as const

export type DefinitionCode = keyof typeof errors.table | keyof typeof foreignErrors
