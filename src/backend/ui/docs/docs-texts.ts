export const searchTexts = {
  open: 'Search…',
  label: 'Search the API reference',
  placeholder: 'Search for an operation',
  none: 'Nothing found',
  found: (amount: number) => (amount === 1 ? '1 result' : `${amount} results`),
  pages: 'Pages',
} as const

export const docsTexts = {
  private: 'This reference is private',
  privateText: 'Sign in, or enter an access token of this API.',
  show: 'Show reference',
  home: 'Overview',
  authentication: 'Authentication',
  errors: 'Errors',
  navigation: 'Operations',
  theme: 'Appearance',
} as const
