import { escapeStep } from '../schema/index.ts'
/** Texts that `Number` reads and that are not a few plain digits, by the name of their parameter. */
export type OddTexts = ReadonlyMap<string, readonly string[]>

const fewDigits = /^-?(?:0|[1-9]\d{0,14})$/
const digits = /^-?(?:0|[1-9]\d*)$/
/** As JSON writes numbers (RFC 8259 §6): no `0x1`, no `+1`, no `01`, no blanks. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Looks at path or query before Ajv coerces it, which takes whatever `Number` takes. Undefined where nothing is odd. */
export function findOddTexts(values: unknown): OddTexts | undefined {
  let found: Map<string, readonly string[]> | undefined
  for (const name in values as object) {
    const given = (values as Record<string, string | string[]>)[name]!
    if (typeof given === 'string' ? isOdd(given) : given.some(isOdd)) (found ??= new Map()).set(name, [given].flat())
  }
  return found
}

function isOdd(text: string): boolean {
  return text !== '' && !fewDigits.test(text) && !Number.isNaN(Number(text))
}

export interface NumberCheck {
  /** Coerced. */
  readonly values: unknown
  readonly odd: OddTexts
  /** `path` or `query` */
  readonly part: string
  /** Whether a parameter has to be a whole number. */
  isInteger(name: string): boolean
}

/** A parameter that is no number as numbers are written. */
export interface MisreadNumber {
  readonly path: string
  readonly message: string
}

/** Finds numbers that were not written as such, and those that no number of JavaScript holds as they were written. */
export function checkNumbers({ values, odd, part, isInteger }: NumberCheck): readonly MisreadNumber[] {
  return [...odd].flatMap(([name, texts]) => {
    const value = (values as Record<string, unknown>)[name]
    const pointer = `${part}/${escapeStep(name)}`
    return [value].flat().flatMap((one, at) => {
      const message = typeof one === 'number' ? judge(one, texts[at]!, () => isInteger(name)) : undefined
      const path = Array.isArray(value) ? `${pointer}/${at}` : pointer
      return message === undefined ? [] : [{ path, message }]
    })
  })
}

const limits = `must be a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

function judge(value: number, text: string, isInteger: () => boolean): string | undefined {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return limits
  if (digits.test(text)) return undefined
  if (isInteger()) return 'must be integer'
  return jsonNumber.test(text) ? undefined : 'must be number'
}
