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
 * Returns the widths and colour schemes to check a page in: both widths and both schemes, and in the long form each width
 * in each scheme. Pages get the two pairs in turns.
 */
export function chooseLooks(): readonly (typeof all)[number][] {
  if (isLong) return all
  turn += 1
  return turn % 2 === 1 ? [all[0], all[2]] : [all[1], all[3]]
}
