import { isMultipleOf } from '../../kit/index.ts'
import type { Check } from './comparer.ts'
import type { Keywords } from '../placed.ts'

interface Bound {
  readonly at: number
  readonly isOpen: boolean
}

export function checkNumbers(check: Check): void {
  const { types, values, subs, sup } = check
  if (!types.has('integer') && !types.has('number')) return
  const numbers = values?.filter((value) => typeof value === 'number')
  const isInteger = !types.has('number')
  for (const [keyword, exclusive, sign] of sides) {
    const limit = boundOf([sup.schema], { keyword, exclusive, sign, isInteger })
    if (limit === undefined) continue
    const own = boundOf(
      subs.map(({ schema }) => schema),
      { keyword, exclusive, sign, isInteger },
    )
    const fits =
      numbers === undefined
        ? own !== undefined && isInside(own, limit)
        : numbers.every((value) => isInside({ at: value * sign, isOpen: false }, limit))
    if (!fits) reportKeyword(check, sup.schema[exclusive] === undefined ? keyword : exclusive)
  }
  checkMultiple(check, isInteger, numbers)
}

const sides = [
  ['minimum', 'exclusiveMinimum', 1],
  ['maximum', 'exclusiveMaximum', -1],
] as const

interface Side {
  readonly keyword: string
  readonly exclusive: string
  /** -1 for a maximum, which is handled as the minimum of the negated values. */
  readonly sign: 1 | -1
  readonly isInteger: boolean
}

/** Returns the tightest lower bound that the schemas set. */
function boundOf(schemas: readonly Keywords[], side: Side): Bound | undefined {
  const bounds = schemas.flatMap((schema): Bound[] => [
    ...toBound(schema[side.keyword], { ...side, isOpen: false }),
    ...toBound(schema[side.exclusive], { ...side, isOpen: true }),
  ])
  return bounds.reduce<Bound | undefined>(
    (tightest, bound) => (tightest === undefined || isInside(bound, tightest) ? bound : tightest),
    undefined,
  )
}

function toBound(value: unknown, { sign, isInteger, isOpen }: Side & { isOpen: boolean }): Bound[] {
  if (typeof value !== 'number') return []
  const at = value * sign
  if (!isInteger) return [{ at, isOpen }]
  return [{ at: isOpen ? Math.floor(at) + 1 : Math.ceil(at), isOpen: false }]
}

/** Returns true if every number that satisfies the first bound satisfies the second. */
function isInside(one: Bound, other: Bound): boolean {
  return one.at > other.at || (one.at === other.at && (one.isOpen || !other.isOpen))
}

function checkMultiple(check: Check, isInteger: boolean, numbers: readonly number[] | undefined): void {
  const step = check.sup.schema['multipleOf']
  if (typeof step !== 'number' || (isInteger && isMultipleOf(1, step))) return
  const fits = (value: unknown) => typeof value === 'number' && isMultipleOf(value, step)
  if (numbers !== undefined && numbers.every(fits)) return
  if (!check.subs.some(({ schema }) => fits(schema['multipleOf']))) reportKeyword(check, 'multipleOf')
}

/** Reports a keyword with its value in each schema. */
export function reportKeyword({ comparer, path, subs, sup }: Check, keyword: string): void {
  const sub = subs.map(({ schema }) => schema[keyword]).find((value) => value !== undefined)
  comparer.report({ path, keyword, sub, sup: sup.schema[keyword] })
}
