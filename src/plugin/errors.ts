import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_PLUGIN_MISSING: {
    kind: 'user',
    status: 500,
    message: 'The plugin "{name}" cannot be loaded: {reason}',
    hint: 'Install it where waypost runs: npm install {name}',
  },
  WP_PLUGIN_INVALID: {
    kind: 'user',
    status: 500,
    message: 'The package "{name}" is no Waypost plugin: {reason}',
    hint: 'Its default export must be made with definePlugin of waypost.',
  },
  WP_PLUGIN_VERSION: {
    kind: 'user',
    status: 500,
    message: 'The plugin "{name}" requires waypost {requires}; this is {own}',
    hint: 'Install versions of both that go together.',
  },
  WP_PLUGIN_CLASS_TWICE: {
    kind: 'user',
    status: 500,
    message: 'The class "{class}" comes from two plugins, "{first}" and "{second}"',
    hint: 'Remove one of them from plugins: in waypost.yml.',
  },
})
