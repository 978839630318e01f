export const confirmTexts = {
  cancel: 'Cancel',
  close: 'Close',
  working: 'Working…',
} as const
