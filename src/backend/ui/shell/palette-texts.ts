export const paletteTexts = {
  open: 'Search',
  placeholder: 'Find a page, a thing or a command',
  none: 'Nothing found',
  found: (count: number) => `${count} found`,
  label: 'Search',
  pages: 'Pages',
  commands: 'Commands',
  rollBack: 'Roll back…',
  dead: 'Show dead deliveries',
  theme: (scheme: string) => `Appearance: ${scheme}`,
  themeWords: 'switch theme mode',
} as const
