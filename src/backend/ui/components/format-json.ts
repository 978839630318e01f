const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Indents JSON. Keeps every token as it is, so that large numbers stay exact. Returns texts that are not JSON unchanged.
 */
export function formatJson(text: string): string {
  try {
    if (typeof JSON.parse(text) !== 'object') return text
  } catch {
    return text
  }
  let depth = 0
  let before = ''
  const newLine = () => `\n${'  '.repeat(depth)}`
  let result = ''
  for (const [part] of text.matchAll(token)) {
    const isEnd = part === '}' || part === ']'
    if (isEnd) depth--
    const isFirst = before === '{' || before === '['
    if (isEnd ? !isFirst : isFirst || before === ',') result += newLine()
    result += part === ':' ? ': ' : part
    if (part === '{' || part === '[') depth++
    before = part
  }
  return result
}
