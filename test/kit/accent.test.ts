import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { deriveAccent } from '../../src/kit/index.ts'

/** The surfaces of the login pages and the portal on which text in the accent is shown. */
const surfaces = {
  light: ['#ffffff', '#f4f5f7', '#f6f7f9', '#f7f8f9', '#f3f5f7'],
  dark: ['#0e1116', '#171b21', '#1e232b', '#12161b', '#1b2027', '#0d1014'],
}

/** The contrast ratio of WCAG 2.2, written independently of the one that is tested. */
function contrast(one: string, other: string): number {
  const [a, b] = [one, other].map((color) => {
    const weights = [0.2126, 0.7152, 0.0722]
    return weights.reduce((sum, weight, index) => {
      const value = Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
      return sum + weight * (value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4))
    }, 0)
  }) as [number, number]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** The colour of `color-mix(in srgb, text 10%, surface)`. */
function tint(surface: string, text: string): string {
  const [a, b] = [surface, text].map((color) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)))
  const mixed = a!.map((value, index) => Math.round(value * 0.9 + b![index]! * 0.1))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function assertReadable(accent: string): void {
  const schemes = deriveAccent(accent)
  for (const scheme of ['light', 'dark'] as const) {
    const { fill, hover, onFill, text } = schemes[scheme]
    for (const color of [fill, hover, onFill, text]) assert.match(color, /^#[0-9a-f]{6}$/)
    for (const back of [fill, hover]) assert.ok(contrast(onFill, back) >= 4.5, `${accent}: ${onFill} on ${back}`)
    for (const surface of surfaces[scheme]) {
      for (const back of [surface, tint(surface, text)])
        assert.ok(contrast(text, back) >= 4.5, `${accent}: ${text} on ${back}`)
    }
  }
}

describe('the colours derived from an accent', () => {
  for (const accent of [
    '#ffffff',
    '#000000',
    '#ffff00',
    '#ffcc00',
    '#1f6feb',
    '#ff0000',
    '#00ff00',
    '#0000ff',
    '#777777',
  ]) {
    test(`can be read: ${accent}`, () => assertReadable(accent))
  }

  test('can be read for any colour', () => {
    const channel = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(channel, channel, channel, (...channels) => {
        assertReadable(`#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`)
      }),
      { numRuns: 3000 },
    )
  })

  test('are the colour itself where it can be read', () => {
    const { light, dark } = deriveAccent('#2553c4')
    assert.deepEqual([light.fill, light.onFill, light.text], ['#2553c4', '#ffffff', '#2553c4'])
    assert.equal(dark.fill, '#2553c4')
    assert.notEqual(dark.text, '#2553c4')
  })
})
