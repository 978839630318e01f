const prefilter = /"__proto__"|"constructor"|\\u/
/** A quote that no backslash escapes. */
const openQuote = String.raw`(?<=(?<!\\)(?:\\\\)*)"`
const protoKey = new RegExp(`${openQuote}${writeKey('__proto__')}:`)
const constructorKey = new RegExp(String.raw`"${writeKey('constructor')}:\s*\{`)
const prototypeKey = new RegExp(`"${writeKey('prototype')}:`)

/** Writes a pattern of a key up to its colon. Each character may be an escape. */
function writeKey(key: string): string {
  const characters = key.split('').map((one) => {
    const digits = one.charCodeAt(0).toString(16).padStart(4, '0')
    return String.raw`(?:${one}|\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`
  })
  return String.raw`${characters.join('')}"\s*`
}

/**
 * Finds a key of a JSON text that could change prototypes when the value is copied: `__proto__`, or `constructor` with
 * `prototype` in it.
 * @param value what the text was parsed to
 */
export function findForbiddenKey(text: string, value: unknown): string | undefined {
  if (!prefilter.test(text)) return undefined
  if (protoKey.test(text)) return '__proto__'
  const isPossible = constructorKey.test(text) && prototypeKey.test(text)
  return isPossible && hasPrototype(value) ? 'constructor.prototype' : undefined
}

/** Not recursive, because values may be deeply nested. */
function hasPrototype(value: unknown): boolean {
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (Array.isArray(next)) {
      for (const one of next) if (typeof one === 'object') pending.push(one)
    } else if (typeof next === 'object' && next !== null) {
      // Object.entries would take twice as long if there are many keys.
      for (const key in next) {
        const one = (next as Readonly<Record<string, unknown>>)[key]
        if (typeof one !== 'object' || one === null) continue
        if (key === 'constructor' && Object.hasOwn(one, 'prototype')) return true
        pending.push(one)
      }
    }
  }
  return false
}
