import { Lexer } from 'yaml'
import { maxDepth } from './check-yaml.ts'

/** The offset from which values are nested deeper than they may be; undefined if they are not. */
export function findTooDeep(text: string): number | undefined {
  return maybeTooDeep(text) ? findDeepToken(text) : undefined
}

const [newline, space, dash, question] = [0x0a, 0x20, 0x2d, 0x3f]
const [openList, closeList, openMap, closeMap] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Counts brackets and dashes wherever they stand, also in texts: quick, and true for hardly any file. */
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

/** What the lexer says before a text that stands without quotes. */
const plainTextNext = '\u001f'

function findDeepToken(text: string): number | undefined {
  let offset = 0
  let depth = 0
  let inLine = 0
  let isText = false
  for (const token of new Lexer().lex(text)) {
    if (token === plainTextNext) {
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
    offset += isMark(token) ? 0 : token.length
  }
  return undefined
}

/** A token that is no text of the file: the end of a flow map, the beginning of a document. */
function isMark(token: string): boolean {
  return token === '\u0002' || token === '\u0018' || token === '\u001f'
}
