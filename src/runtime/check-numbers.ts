import { escapeStep } from '../schema/index.ts'
import { exactIntegers } from './limit-integers.ts'

/** Texts that `Number` can parse but that are not a few plain digits, by parameter name. */
export type UnusualNumbers = ReadonlyMap<string, readonly string[]>

const shortInteger = /^-?(?:0|[1-9]\d{0,14})$/
const digits = /^-?(?:0|[1-9]\d*)$/
/** A number as JSON writes it (RFC 8259 §6): no `0x1`, no `+1`, no `01`, no whitespace. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Finds texts that need a check after coercion. Must run before Ajv coerces path or query, because Ajv accepts anything
 * that `Number` accepts. Returns undefined if there are none.
 */
export function findUnusualNumbers(values: unknown): UnusualNumbers | undefined {
  let found: Map<string, readonly string[]> | undefined
  for (const name in values as object) {
    const given = (values as Record<string, unknown>)[name] // numbers if an alternative was read before
    if (typeof given === 'string' ? isUnusual(given) : Array.isArray(given) && given.some(isUnusual))
      (found ??= new Map()).set(name, [given as string].flat())
  }
  return found
}

function isUnusual(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && !shortInteger.test(text) && !Number.isNaN(Number(text))
}

export interface NumberCheck {
  /** The values after coercion. */
  readonly values: unknown
  readonly unusual: UnusualNumbers
  /** `path` or `query`. */
  readonly part: string
  /** Whether a parameter must be an integer. */
  isInteger(name: string): boolean
}

/** A parameter that is not written as a number. */
export interface NumberProblem {
  readonly path: string
  readonly message: string
}

/** Finds values that are not written as JSON numbers, and values that JavaScript cannot represent exactly. */
export function checkNumbers({ values, unusual, part, isInteger }: NumberCheck): readonly NumberProblem[] {
  return [...unusual].flatMap(([name, texts]) => {
    const value = (values as Record<string, unknown>)[name]
    const pointer = `${part}/${escapeStep(name)}`
    return [value].flat().flatMap((one, at) => {
      const message = typeof one === 'number' ? checkNumber(one, texts[at]!, () => isInteger(name)) : undefined
      const path = Array.isArray(value) ? `${pointer}/${at}` : pointer
      return message === undefined ? [] : [{ path, message }]
    })
  })
}

/** Whether digits got lost. As in a body, large numbers such as 1e300 are fine where a number need not be an integer. */
function isRounded(value: number, text: string): boolean {
  return digits.test(text) && text !== BigInt(value).toString()
}

const limits = `must be a number ${exactIntegers}`

function checkNumber(value: number, text: string, isInteger: () => boolean): string | undefined {
  if (!Number.isFinite(value)) return limits
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && (isInteger() || isRounded(value, text))) return limits
  if (digits.test(text)) return undefined
  if (isInteger()) return 'must be integer'
  return jsonNumber.test(text) ? undefined : 'must be number'
}
