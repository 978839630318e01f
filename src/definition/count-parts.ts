const [newline, space, comma, colon] = [0x0a, 0x20, 0x2c, 0x3a]
const [openList, openMap, tag] = [0x5b, 0x7b, 0x21]

/** Estimates the number of lines, items and values of a text. Parsing time grows with them. */
export function estimateParts(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === newline || code === comma || code === openList || code === openMap) count += 1
    else if (code === colon && text.charCodeAt(index + 1) === space) count += 1
    // Each unknown tag causes a parser warning with a stack.
    else if (code === tag && text.charCodeAt(index - 1) === space) count += 3
  }
  return count
}
