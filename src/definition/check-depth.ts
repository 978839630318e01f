import { Lexer } from 'yaml'
import { maxDepth } from './check-yaml.ts'

/** Returns the offset at which values exceed the allowed depth; undefined if none do. */
export function findTooDeep(text: string): number | undefined {
  return maybeTooDeep(text) ? findDeepToken(text) : undefined
}

const [newline, space, dash, question] = [0x0a, 0x20, 0x2d, 0x3f]
const [openList, closeList, openMap, closeMap] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Counts brackets and dashes everywhere, including in strings. A fast check that is true for very few files. */
function maybeTooDeep(text: string): boolean {
  let depth = 0
  let inLine = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === openList || code === openMap) depth += 1
    else if (code === closeList || code === closeMap) depth = Math.max(0, depth - 1)
    else if (code === newline) inLine = 0
    else if ((code === dash || code === question) && text.charCodeAt(index + 1) === space) inLine += 1
    if (depth > maxDepth || inLine > maxDepth) return true
  }
  return false
}

/** The lexer's token before an unquoted scalar. */
const plainScalarToken = '\u001f'

function findDeepToken(text: string): number | undefined {
  let offset = 0
  let depth = 0
  let inLine = 0
  let isText = false
  for (const token of new Lexer().lex(text)) {
    if (token === plainScalarToken) {
      isText = true
      continue
    }
    if (!isText) {
      if (token === '[' || token === '{') depth += 1
      else if (token === ']' || token === '}') depth = Math.max(0, depth - 1)
      else if (token === '-' || token === '?') inLine += 1
      else if (token.startsWith('\n')) inLine = 0
    }
    if (depth > maxDepth || inLine > maxDepth) return offset
    isText = false
    offset += isControlToken(token) ? 0 : token.length
  }
  return undefined
}

/** Whether a token is a control token of the lexer: end of a flow map, start of a document or of a plain scalar. */
function isControlToken(token: string): boolean {
  return token === '\u0002' || token === '\u0018' || token === '\u001f'
}
