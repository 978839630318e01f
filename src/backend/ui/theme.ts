import { createTheme, mergeThemeOverrides, type MantineColorsTuple, type CSSVariablesResolver } from '@mantine/core'
import { config, type AccentColours } from './config.ts'

const accent: MantineColorsTuple = [
  '#eef3fe', '#dbe5fc', '#b4c8f8', '#8aa9f4', '#6890f0', '#4d7bee', '#2f62de', '#2553c4', '#1d46a8', '#15388b',
] // prettier-ignore
const dark: MantineColorsTuple = [
  '#e6e9ee', '#b6bec9', '#9aa4b1', '#5d6674', '#39414d', '#2a3039', '#1b2027', '#12161b', '#0d1014', '#08090c',
] // prettier-ignore
const gray: MantineColorsTuple = [
  '#f8f9fa', '#f1f3f5', '#e6e9ed', '#dadfe5', '#c5ccd4', '#8b95a1', '#667180', '#525c69', '#343b45', '#1a1f26',
] // prettier-ignore

const red: MantineColorsTuple = [
  '#fdebed', '#fad3d8', '#f4a9b2', '#ee7c8a', '#e45769', '#d23b4f', '#b4182d', '#9a1427', '#7d1020', '#610b18',
] // prettier-ignore

/** A list or menu that opens is not higher than its side of the window: on an enlarged page, neither side has room for many items. */
const floating = { shift: true, flip: { fallbackStrategy: 'bestFit' } } as const
const listHeight = 'min(220px, var(--list-room, 220px))'
/** Lists open when someone asks for them, not when Tab passes by. */
const choices = { size: 'xs', openOnFocus: false, maxDropdownHeight: listHeight } as const

/** Small and dense: 13 px text, controls of 30 px, corners of 6 px. Everything is on a grid of 4 px. */
const ownTheme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  autoContrast: true,
  luminanceThreshold: 0.35,
  colors: { accent, dark, gray, red },
  black: '#1a1f26',
  defaultRadius: 6,
  cursorType: 'pointer',
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, 'SF Mono', Menlo, Consolas, monospace",
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '20px', lineHeight: '28px' }, h2: { fontSize: '14px', lineHeight: '20px' } },
  },
  components: {
    Button: { defaultProps: { size: 'xs', fz: 13, fw: 500 } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Autocomplete: { defaultProps: choices },
    FileInput: { defaultProps: { size: 'xs' } },
    Radio: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { ...choices, allowDeselect: false } },
    NativeSelect: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: choices },
    TagsInput: { defaultProps: { ...choices, openOnFocus: true } }, // typing does not open its list
    NumberInput: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 28 } },
    // Fixed, or one at the edge makes the window scroll.
    Tooltip: {
      defaultProps: {
        openDelay: 300,
        events: { hover: true, focus: true, touch: false },
        fz: 12,
        floatingStrategy: 'fixed',
      },
    },
    // The placeholder is not an item, which is all that a menu may contain. Without it, the first item has the focus.
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end', width: 220, withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: { middlewares: { ...floating, size: { padding: 4 } } } },
    Combobox: { defaultProps: { middlewares: { ...floating, size: { padding: 8, apply: setRoom } } } },
    Modal: {
      defaultProps: { centered: true, transitionProps: { duration: 0 }, overlayProps: { backgroundOpacity: 0.4 } },
    },
    Drawer: { defaultProps: { transitionProps: { duration: 150 } } },
    Badge: { defaultProps: { variant: 'light', radius: 4 } },
  },
})

function setRoom({
  availableHeight,
  elements,
}: Readonly<{ availableHeight: number; elements: { floating: HTMLElement } }>) {
  elements.floating.style.setProperty('--list-room', `${Math.max(80, availableHeight)}px`)
}

/** Surfaces and lines, so that text has a contrast of at least 4.5:1 and borders of fields at least 3:1. */
const ownResolver: CSSVariablesResolver = () => ({
  variables: { '--rail': '220px', '--bar': '48px' },
  light: {
    '--page': '#ffffff', '--raised': '#ffffff', '--rail-back': '#f7f8f9', '--quiet': '#f3f5f7', '--line': '#e4e7eb', '--edge': '#858f9b',
    '--soft': '#57606c', '--accent': '#2553c4', '--accent-back': '#e8effd', '--good': '#136c3a', '--good-back': '#e3f5ea',
    '--bad': '#b4182d', '--bad-back': '#fdebed', '--warn': '#835200', '--warn-back': '#fdf1dc',
    '--info': '#0b5c87', '--info-back': '#e1f1f9',
    '--mantine-color-dimmed': '#57606c', '--mantine-color-error': '#b4182d', '--mantine-color-placeholder': '#667180',
    '--mantine-color-default-border': '#c5ccd4',
  },
  dark: {
    '--page': '#12161b', '--raised': '#1b2027', '--rail-back': '#0d1014', '--quiet': '#1b2027', '--line': '#262c35', '--edge': '#6f7a88',
    '--soft': '#9aa4b1', '--accent': '#8aa9f4', '--accent-back': '#1c2a4a', '--good': '#6fd39a', '--good-back': '#12301f',
    '--bad': '#ff9aa5', '--bad-back': '#3a171d', '--warn': '#f0bd6a', '--warn-back': '#362708',
    '--info': '#7cc4ec', '--info-back': '#10293a',
    '--mantine-color-body': '#12161b', '--mantine-color-dimmed': '#9aa4b1', '--mantine-color-error': '#ff9aa5',
    '--mantine-color-placeholder': '#8b95a1', '--mantine-color-default': '#171b21', '--mantine-color-default-border': '#39414d',
    '--mantine-color-anchor': '#8aa9f4', '--mantine-color-disabled': '#262c35', '--mantine-color-disabled-color': '#7d8896',
  },
}) // prettier-ignore

export const theme = config.accent ? tint(config.accent.light) : ownTheme

/** Uses the colours of a service for buttons. They are the same in both schemes. */
function tint({ fill, hover }: AccentColours) {
  const shades = Array.from({ length: 10 }, (_, index) => (index === 7 ? hover : fill)) as unknown as MantineColorsTuple
  // Text on buttons is black where white has a contrast of less than 4.5:1.
  return mergeThemeOverrides(ownTheme, { colors: { accent: shades }, luminanceThreshold: 0.183 })
}

/** Surfaces and lines, and links in the colours of the service. */
export const resolver: CSSVariablesResolver = (given) => {
  const { variables, light, dark } = ownResolver(given)
  if (!config.accent) return { variables, light, dark }
  return {
    variables,
    light: { ...light, ...makeLinkColours(config.accent.light) },
    dark: { ...dark, ...makeLinkColours(config.accent.dark) },
  }
}

function makeLinkColours({ text }: AccentColours): Record<string, string> {
  return {
    '--accent': text,
    '--accent-back': `color-mix(in srgb, ${text} 10%, var(--page))`,
    '--mantine-color-anchor': text,
  }
}
