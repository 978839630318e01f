import fc from 'fast-check'
import { isLong } from './forms.ts'

// A fixed seed, so that a run only fails because of changes; the long form uses random seeds.
if (!isLong) fc.configureGlobal({ seed: 20_261_120 })

/** Returns how many values to check a property with: `count` in the long form, a twentieth of it otherwise. */
export function runs(count: number): number {
  return isLong ? count : Math.ceil(count / 20)
}

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'key', 'ref']

/**
 * Texts of any code points, and names that objects inherit. `fc.string({ unit: 'binary' })` builds a table of a million
 * code points first, which takes longer than most tests.
 */
export function wildText(
  limits: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  const { minLength = 0, maxLength } = limits
  const codePoint = fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10_f7ff }))
  const text = fc
    .array(codePoint, limits)
    .map((points) => String.fromCodePoint(...points.map((point) => (point < 0xd8_00 ? point : point + 0x8_00))))
  const known = names.filter(({ length }) => length >= minLength && length <= (maxLength ?? length))
  return known.length === 0
    ? text
    : fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(...known) })
}

/** URLs with a path, a query and a fragment. `fc.webUrl()` builds tables for them first, which takes seconds. */
export function webUrl(): fc.Arbitrary<string> {
  const part = (marks: string) =>
    fc
      .array(fc.constantFrom(...`aZ09-._~!$&'()*+,;=:@${marks}`.split(''), '%20', '%C3%A4'), { maxLength: 20 })
      .map((characters) => characters.join(''))
  const parts = fc.tuple(fc.constantFrom('http', 'https'), fc.domain(), part('/'), part('/?'), part('/?'))
  return parts.map(([scheme, host, at, query, fragment]) => `${scheme}://${host}/${at}?${query}#${fragment}`)
}

export { fc }
