const largeExponent = /[eE]\+?\d\d\d/
const manyDigits = /(?<!\d)\d{210}/
const minDigits = 210
const [zero, nine, dot, plus, minus] = [0x30, 0x39, 0x2e, 0x2b, 0x2d]
const [smallE, largeE, quote, backslash] = [0x65, 0x45, 0x22, 0x5c]
/** Of 210 digits in a row, two are always at successive multiples of this. */
const stride = 105

/**
 * Whether a JSON text has a number that a double cannot represent, such as `1e400`, which `JSON.parse` reads as infinity.
 * Such a number has an exponent of three digits or at least 210 digits, so that most texts are only searched for these. Does
 * not look at the parsed value: its keys may take as long to list as the text to parse.
 */
export function hasInfiniteNumber(text: string): boolean {
  const isPossible =
    largeExponent.test(text) || (text.length >= minDigits && mayHaveManyDigits(text) && manyDigits.test(text))
  return isPossible && readsAsInfinity(text)
}

function readsAsInfinity(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = findTextEnd(text, at)
    else if (code >= zero && code <= nine) {
      const start = at
      let hasExponent = false
      for (let next = text.charCodeAt(at + 1); isInNumber(next); next = text.charCodeAt(at + 1)) {
        at += 1
        hasExponent ||= next === smallE || next === largeE
      }
      const isLarge = hasExponent || at + 1 - start >= minDigits
      if (isLarge && Number(text.slice(start, at + 1)) === Infinity) return true
    }
  }
  return false
}

function isInNumber(code: number): boolean {
  return (
    (code >= zero && code <= nine) ||
    code === dot ||
    code === smallE ||
    code === largeE ||
    code === plus ||
    code === minus
  )
}

/** Returns where the text ends that begins with a quote, that is, at the next quote that no backslash escapes. */
function findTextEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before -= 1
    if ((at - before) % 2 === 1) return at
  }
  return text.length
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
