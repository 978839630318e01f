import { createRequire } from 'node:module'
import type { RE2JS as Engine } from 're2js'

// Loaded with the first pattern, because most commands compile none.
const require = createRequire(import.meta.url)

/** A compiled pattern that tests any text in linear time. */
export interface LinearPattern {
  test(text: string): boolean
  /** Returns the pattern. Ajv treats two patterns of one schema with the same text as equal. */
  toString(): string
}

/**
 * Compiles a pattern of JSON Schema (JavaScript syntax with the flag `u`) for an engine without backtracking. The
 * engine does not support lookaround or backreferences, and repeats at most 1,000 times.
 * @throws SyntaxError with the unsupported part
 */
export function compilePattern(pattern: string): LinearPattern {
  const { RE2JS } = require('re2js') as { RE2JS: typeof Engine }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text) => compiled.test(text), toString: () => pattern }
  } catch (error) {
    const message = (error as Error).message.replace(/^error parsing regexp: /, '').replaceAll('`', '"')
    throw new SyntaxError(message, { cause: error })
  }
}
