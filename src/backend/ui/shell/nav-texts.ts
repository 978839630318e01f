export const navTexts = {
  label: 'Pages',
  open: 'Open navigation',
  close: 'Close navigation',
  build: 'Build',
  operate: 'Operate',
  access: 'Access',
} as const
