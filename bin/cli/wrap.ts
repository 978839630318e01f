import { widthOf } from './print-diagnostics.ts'

/** Breaks a text at blanks, to be as wide as the terminal; every line but the first is indented. */
export function wrap(text: string, indent: number, stream: NodeJS.WriteStream = process.stdout): string {
  const width = Math.max(20, widthOf(stream) - indent)
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}
