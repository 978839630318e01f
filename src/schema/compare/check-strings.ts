import { compilePattern } from '../../kit/index.ts'
import { reportKeyword } from './check-numbers.ts'
import type { Check } from './comparer.ts'

/** Types that arrive as text in coerced values. */
const scalars = ['integer', 'number', 'boolean']

export function checkStrings(check: Check): void {
  const { types, subs, sup, values } = check
  const format = sup.schema['format']
  const hasFormat = types.has('string') || types.has('number') || types.has('integer')
  if (format !== undefined && hasFormat && !subs.some(({ schema }) => schema['format'] === format))
    reportKeyword(check, 'format')
  const isText = types.has('string') || (check.comparer.isCoerced && scalars.some((type) => types.has(type)))
  if (!isText) return
  const texts = values?.filter((value) => typeof value === 'string')
  checkCount(check, ['minLength', 'maxLength'], texts?.map(countCharacters))
  const pattern = sup.schema['pattern']
  if (typeof pattern !== 'string' || subs.some(({ schema }) => schema['pattern'] === pattern)) return
  if (texts === undefined || !matches(pattern, texts)) reportKeyword(check, 'pattern')
}

/** Ajv counts code points. */
function countCharacters(text: string): number {
  return Array.from(text).length
}

function matches(pattern: string, texts: readonly string[]): boolean {
  try {
    const compiled = compilePattern(pattern)
    return texts.every((text) => compiled.test(text))
  } catch {
    return false
  }
}

/**
 * Checks a minimum and a maximum count, for example `minLength` and `maxLength`.
 * @param counts the count of each possible value, if the values are listed
 */
export function checkCount(
  check: Check,
  [minKeyword, maxKeyword]: readonly [string, string],
  counts?: readonly number[],
): void {
  const { subs, sup } = check
  const numbersOf = (keyword: string) =>
    subs.map(({ schema }) => schema[keyword]).filter((value) => typeof value === 'number')
  const [from, to] = [sup.schema[minKeyword], sup.schema[maxKeyword]]
  const lowest = counts === undefined ? Math.max(0, ...numbersOf(minKeyword)) : Math.min(...counts)
  const highest = counts === undefined ? Math.min(...numbersOf(maxKeyword)) : Math.max(...counts)
  if (typeof from === 'number' && lowest < from) reportKeyword(check, minKeyword)
  if (typeof to === 'number' && highest > to) reportKeyword(check, maxKeyword)
}
