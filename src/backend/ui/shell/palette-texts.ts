export const paletteTexts = {
  open: 'Search',
  placeholder: 'Search pages, resources and commands',
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
