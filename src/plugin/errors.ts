import { defineErrors } from '../kit/index.ts'

const user = { kind: 'user', status: 500 } as const

export const errors = defineErrors({
  WP_PLUGIN_MISSING: {
    ...user,
    message: 'Cannot find the plugin "{name}": {reason}',
    hint: 'Install the package with npm, or correct the path of the file in "plugins:".',
  },
  WP_PLUGIN_LOAD: {
    ...user,
    message: 'Cannot load the plugin "{name}": {reason}',
    hint: 'The top-level code of a plugin must not throw, block, or have side effects.',
  },
  WP_PLUGIN_INVALID: {
    ...user,
    message: '"{name}" is not a Waypost plugin: {reason}',
    hint: 'Its default export must be created with definePlugin from "waypost".',
  },
  WP_PLUGIN_VERSION: {
    ...user,
    message: 'The plugin "{name}" requires waypost {requires}, but this is version {own}',
    hint: 'Install compatible versions of both.',
  },
  WP_PLUGIN_NAME_TWICE: {
    ...user,
    message: 'Two plugins are named "{name}": {first} and {second}',
    hint: 'Remove one of them from "plugins:" in waypost.yml.',
  },
  WP_PLUGIN_CLASS_TWICE: {
    ...user,
    message: 'Two plugins provide the class "{class}": "{first}" and "{second}"',
    hint: 'Remove one of them from "plugins:" in waypost.yml.',
  },
  WP_PLUGIN_CONFIG: {
    ...user,
    message: 'The config of the plugin "{name}" is invalid: {problem}',
    hint: 'Check "config" in "plugins:", and the variables that it refers to.',
  },
  WP_PLUGIN_NATIVE: {
    ...user,
    message: 'The plugin "{name}" cannot be part of a release: {reason}',
    hint: 'Add "host: true" to its entry in "plugins:", and install it on every server.',
  },
  WP_PLUGIN_SIZE: {
    ...user,
    message: 'The plugin "{name}" has {size} MB of code; the limit is {limit} MB',
    hint: 'Use smaller packages, or add "host: true" to its entry in "plugins:" and install it on every server.',
  },
  WP_PLUGIN_HOST: {
    ...user,
    message: 'The plugin "{name}" must be installed on this server: {reason}',
    hint: 'Install it in the folder of the server: npm install {name}@^{version}. Then restart the server.',
  },
  WP_PLUGIN_TIMEOUT: {
    ...user,
    message: 'The plugin "{name}" did not finish {what} within {seconds} s',
    hint: 'It may be waiting for a system that does not respond. Open such connections on first use instead.',
  },
  WP_PLUGIN_ROUTES: {
    ...user,
    message: 'The routes of the plugin "{name}" cannot be registered: {reason}',
    hint: 'Report this to the author of the plugin.',
  },
  WP_PLUGIN_ROUTE_ACCESS: {
    ...user,
    message: 'The plugin "{name}" does not define who may call {method} {path}',
    hint: 'In the config of the route, set scopes to a list of names, or set public: true to allow anyone.',
  },
  WP_PLUGIN_PATH: {
    ...user,
    message: 'The plugin "{name}" registers {method} {path}, which is reserved for Waypost',
    hint: 'Change the path in the plugin.',
  },
  WP_PLUGIN_ROUTE_TWICE: {
    ...user,
    message: 'Two routes are registered for {method} {path}: one by {first}, one by {second}',
    hint: 'Rename the route of the project, or remove one of the plugins.',
  },
  WP_PLUGIN_HOOK: {
    ...user,
    message: 'The hook {hook} of the plugin "{name}" failed: {reason}',
    hint: 'Report this to the author of the plugin.',
  },
  WP_PLUGIN_MAKE: {
    ...user,
    message: 'The plugin "{name}" cannot create the action "{class}" of {use}: {reason}',
    hint: 'Check the config of the action.',
  },
})
