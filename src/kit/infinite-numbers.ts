const largeExponent = /[eE]\+?\d\d\d/
const manyDigits = /(?<!\d)\d{210}/
const [zero, nine] = [0x30, 0x39]
/** Of 210 digits in a row, two are always at successive multiples of this. */
const stride = 105

/**
 * Whether a JSON text has a number that a double cannot represent, such as `1e400`, which `JSON.parse` reads as infinity.
 * Such a number has an exponent of three digits or at least 210 digits, so that most values are not looked at.
 * @param value what the text was parsed to
 */
export function hasInfiniteNumber(text: string, value: unknown): boolean {
  const isPossible =
    largeExponent.test(text) || (text.length >= 210 && mayHaveManyDigits(text) && manyDigits.test(text))
  return isPossible && findInfiniteNumber(value) !== undefined
}

/** Looks at few characters, because a search for the digits would take a third of the time of parsing. */
function mayHaveManyDigits(text: string): boolean {
  let wasDigit = false
  for (let index = 0; index < text.length; index += stride) {
    const code = text.charCodeAt(index)
    const isDigit = code >= zero && code <= nine
    if (isDigit && wasDigit) return true
    wasDigit = isDigit
  }
  return false
}

/**
 * Returns the place of the first NaN or infinity in a value, as the steps of a JSON pointer; undefined if there is none. Not
 * recursive, because values may be deeply nested.
 */
export function findInfiniteNumber(value: unknown): readonly string[] | undefined {
  const pending: Place[] = [{ value, key: '', parent: undefined }]
  const seen = new Set<object>()
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value: one } = place
    if (typeof one === 'number' && !Number.isFinite(one)) return stepsOf(place)
    if (typeof one !== 'object' || one === null || seen.has(one)) continue
    if (typeof (one as { readonly toJSON?: unknown }).toJSON === 'function') continue // written in a form of its own
    seen.add(one)
    for (const [key, inner] of Object.entries(one).toReversed()) pending.push({ value: inner, key, parent: place })
  }
  return undefined
}

interface Place {
  readonly value: unknown
  readonly key: string
  readonly parent: Place | undefined
}

function stepsOf(place: Place): readonly string[] {
  const steps: string[] = []
  for (let at: Place | undefined = place; at?.parent !== undefined; at = at.parent) steps.unshift(at.key)
  return steps
}
