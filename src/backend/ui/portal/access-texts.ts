export const formTexts = {
  email: 'Enter an email address, for example ann@example.com.',
  name: 'Enter a name with at most 64 characters.',
  scopes: 'Select at least one scope.',
  redirectUris: 'Enter at least one address.',
  manyUris: 'Enter at most 20 addresses.',
  oldPassword: 'Enter your current password.',
  newPassword: 'Enter a new password.',
  show: 'Show password',
  hide: 'Hide password',
} as const

export const scopesTexts = {
  title: 'Scopes',
  noText: 'No description',
  none: 'Your account has no scopes. The operator of this API can grant them.',
} as const

export const accessTexts = {
  passwordLogin: 'Password login',
} as const
