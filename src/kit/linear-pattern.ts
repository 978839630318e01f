import { createRequire } from 'node:module'
import type { RE2JS as Engine } from 're2js'

// Loaded with the first pattern: most commands never see one.
const require = createRequire(import.meta.url)

/** A compiled pattern whose time to test a text is linear in the text, whatever the text is. */
export interface LinearPattern {
  test(text: string): boolean
  /** The pattern: Ajv takes two patterns of one schema with the same text for the same. */
  toString(): string
}

/**
 * Compiles a pattern of JSON Schema (JavaScript's syntax with the flag `u`) for an engine without backtracking, which
 * knows neither look-around nor back references and repeats at most 1,000 times.
 * @throws SyntaxError saying what it cannot compile
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
