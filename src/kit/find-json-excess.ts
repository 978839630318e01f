const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

export interface JsonLimits {
  /** Levels of arrays and objects at most. */
  readonly levels: number
  /** Commas and opening brackets at most: a text has at most one value more. */
  readonly values?: number
}

/**
 * Looks at the bytes of a JSON text, so that nothing deep or numerous is ever built of it. What is not JSON is found by
 * who parses it.
 */
export function findJsonExcess(
  bytes: Uint8Array,
  { levels, values = Infinity }: JsonLimits,
): 'levels' | 'values' | undefined {
  if (bytes.length <= Math.min(2 * levels, values)) return undefined // too short to open and close so many levels
  if (values === Infinity && hasFewBrackets(bytes, levels)) return undefined
  let depth = 0
  let count = 0
  let isText = false
  for (let index = 0; index < bytes.length; index += 1) {
    const code = bytes[index]!
    if (isText) {
      if (code === backslash) index += 1
      else if (code === quote) isText = false
    } else if (code === quote) isText = true
    else if (code === comma) count += 1
    else if (code === openObject || code === openArray) {
      depth += 1
      count += 1
      if (depth > levels) return 'levels'
    } else if (code === closeObject || code === closeArray) depth -= 1
    if (count > values) return 'values'
  }
  return undefined
}

/** Whether a text opens at most this many arrays and objects. Reading each byte would take a sixth of the time of parsing. */
function hasFewBrackets(bytes: Uint8Array, limit: number): boolean {
  let count = 0
  for (const bracket of [openArray, openObject])
    for (let at = bytes.indexOf(bracket); at !== -1; at = bytes.indexOf(bracket, at + 1)) {
      count += 1
      if (count > limit) return false
    }
  return true
}
