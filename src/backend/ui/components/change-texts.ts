export const changesTexts = {
  none: 'No differences.',
  added: 'Added',
  changed: 'Changed',
  removed: 'Removed',
  breaking: 'breaking',
} as const
