/** The colours of the setting `accent` in one colour scheme. */
export interface AccentColours {
  /** The background of buttons. It may be the same as the background of the page, so buttons have a border of `text`. */
  readonly fill: string
  /** The background of buttons below the pointer. */
  readonly hover: string
  /** Text on `fill` and `hover`. */
  readonly onFill: string
  /** Links and focus. */
  readonly text: string
}

export interface AccentSchemes {
  readonly light: AccentColours
  readonly dark: AccentColours
}

type Color = readonly [red: number, green: number, blue: number]

const white: Color = [255, 255, 255]
const black: Color = [0, 0, 0]
/** The surface of each scheme, on any of Waypost's pages, on which coloured text has the lowest contrast. */
const surfaces = { light: parse('#f1f3f5'), dark: parse('#20262e') }
/** Of text (WCAG 2.2, 1.4.3). */
const minContrast = 4.5

/** Derives the colours of both schemes from a colour such as `#1f6feb`, so that all text is readable. */
export function deriveAccent(accent: string): AccentSchemes {
  const fill = parse(accent)
  const onFill = contrast(fill, white) >= minContrast ? white : black
  const buttons = {
    fill: format(fill),
    hover: format(mix(fill, onFill === white ? black : white, 0.15)),
    onFill: format(onFill),
  }
  return {
    light: { ...buttons, text: format(moveToContrast(fill, black, surfaces.light)) },
    dark: { ...buttons, text: format(moveToContrast(fill, white, surfaces.dark)) },
  }
}

/** The share of a text's colour in the background of marks and badges with that text. */
const tintShare = 0.1

/** Mixes a colour with as little of another as it needs to be readable on a surface, and on a tint of itself there. */
function moveToContrast(color: Color, other: Color, surface: Color): Color {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(color, other, share)
    if (contrast(mixed, mix(surface, mixed, tintShare)) >= minContrast) return mixed
  }
  return other
}

/** The contrast ratio of WCAG 2.2. */
function contrast(one: Color, other: Color): number {
  const [high, low] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: Color): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(color: Color, other: Color, share: number): Color {
  return color.map((value, index) => Math.round(value + (other[index]! - value) * share)) as unknown as Color
}

function parse(color: string): Color {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Color
}

function format(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
