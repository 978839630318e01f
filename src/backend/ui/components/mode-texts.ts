export const modeTexts = {
  label: 'Mode',
  atOnce: 'Changes apply immediately',
  draft: 'Changes go to the draft',
  readOnly: 'Read-only: drafts and publishing are disabled on this server',
  development: 'Development',
} as const
