import { isLong } from '../support/forms.ts'

// In this order because a change of the width replaces parts of the page.
const all = [
  [1440, 'light'],
  [1440, 'dark'],
  [390, 'dark'],
  [390, 'light'],
] as const

let turn = 0

/**
 * Returns the widths and colour schemes to check a page in: in the long form each width in each scheme, otherwise one of
 * these. Pages get them in turns.
 */
export function chooseLooks(): readonly (typeof all)[number][] {
  if (isLong) return all
  turn += 1
  return [all[turn % all.length]!]
}
