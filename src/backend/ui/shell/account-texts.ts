export const accountTexts = {
  label: 'Account',
  signedInAs: 'Signed in as',
  scopes: 'Scopes',
  theme: 'Appearance',
  light: 'Light',
  dark: 'Dark',
  auto: 'System',
  shortcuts: 'Single-key shortcuts',
  shortcutKeys: 'In a list: J and K move, A opens actions, / searches',
  signOut: 'Sign out',
} as const
