import { compilePattern, messageOf } from '../kit/index.ts'

export interface PatternProblem {
  readonly message: string
  readonly hint?: string
}

/**
 * Checks a pattern of JSON Schema. Patterns run on a linear-time engine, which does not support lookaround or
 * backreferences.
 */
export function checkPattern(pattern: string): PatternProblem | undefined {
  try {
    RegExp(pattern, 'u')
  } catch (error) {
    const reason = (error as Error).message.replace(/^.*\/u?: /s, '')
    const hint = 'Write a JavaScript pattern (flag u) without slashes around it'
    return { message: `${shorten(pattern)} is not a valid pattern: ${reason}`, hint }
  }
  const found = findNonLinear(pattern)
  if (found === undefined) return checkCompiles(pattern)
  const hint = 'Patterns must run in linear time; use a simpler pattern, or several schemas in allOf'
  return { message: `${found} is not supported in patterns`, hint }
}

/** Checked last: the engine of the servers decides, but its messages are short. */
function checkCompiles(pattern: string): PatternProblem | undefined {
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    const hint =
      hintForProperty(pattern) ??
      'Patterns must run in linear time, with at most 1,000 repetitions; see docs/schemas.md for what they may contain'
    return { message: `${shorten(pattern)} is not supported as a pattern: ${messageOf(error)}`, hint }
  }
}

/** The engine knows the short names of general categories, and scripts without `Script=`. */
const categories: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Alphabetic: 'L',
  Lowercase: 'Ll',
  Uppercase: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Separator: 'Z',
  Space_Separator: 'Zs',
  White_Space: 'Z',
  Symbol: 'S',
}

function hintForProperty(pattern: string): string | undefined {
  for (const [text, kind, , name = ''] of pattern.matchAll(/\\([pP])\{((?:General_Category|gc|Script|sc)=)?(\w+)\}/g)) {
    const short = Object.hasOwn(categories, name) ? categories[name] : text.includes('=') ? name : undefined
    if (short !== undefined) return `Write \\${kind}{${short}} for ${text}`
  }
  return undefined
}

function findNonLinear(pattern: string): string | undefined {
  let inClass = false
  for (let index = 0; index < pattern.length; index += 1) {
    const rest = pattern.slice(index, index + 4)
    if (rest.startsWith('\\')) {
      if (!inClass && /^\\[1-9k]/.test(rest)) return `The backreference "${rest.slice(0, 2)}"`
      index += 1
    } else if (inClass) {
      inClass = !rest.startsWith(']')
    } else if (rest.startsWith('[')) {
      inClass = true
    } else if (/^\(\?<?[=!]/.test(rest)) {
      return `The lookaround "${/^\(\?<?[=!]/.exec(rest)![0]}"`
    }
  }
  return undefined
}

function shorten(text: string): string {
  return `"${text.length > 60 ? `${text.slice(0, 59)}…` : text}"`
}
