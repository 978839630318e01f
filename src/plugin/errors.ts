import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_PLUGIN_MISSING: {
    kind: 'user',
    status: 500,
    message: 'Cannot load the plugin "{name}": {reason}',
    hint: 'Install it where waypost is installed: npm install {name}',
  },
  WP_PLUGIN_INVALID: {
    kind: 'user',
    status: 500,
    message: 'The package "{name}" is not a Waypost plugin: {reason}',
    hint: 'Its default export must be created with definePlugin from "waypost".',
  },
  WP_PLUGIN_VERSION: {
    kind: 'user',
    status: 500,
    message: 'The plugin "{name}" requires waypost {requires}, but this is version {own}',
    hint: 'Install compatible versions of both.',
  },
  WP_PLUGIN_CLASS_TWICE: {
    kind: 'user',
    status: 500,
    message: 'Two plugins provide the class "{class}": "{first}" and "{second}"',
    hint: 'Remove one of them from "plugins:" in waypost.yml.',
  },
})
