/** What a server said, as it may be printed: in one line, and nothing that moves or hides what stands around it. */
export function printable(text: unknown, most = 1000): string {
  if (typeof text !== 'string') return ''
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain
}
