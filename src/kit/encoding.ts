import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

/** Why bytes are not text. */
export interface EncodingProblem {
  readonly reason: string
  /** The first line, from 1, that is not UTF-8. */
  readonly line: number
}

/** Finds out why bytes are not UTF-8; undefined if they are. */
export function findEncodingProblem(bytes: Uint8Array): EncodingProblem | undefined {
  if (isUtf16(bytes)) return { reason: 'it is UTF-16, not UTF-8', line: 1 }
  if (isUtf8(bytes)) return undefined
  let line = 1
  let start = 0
  // A UTF-8 character never spans a line break.
  for (let end = bytes.indexOf(10); end !== -1 && isUtf8(bytes.subarray(start, end)); end = bytes.indexOf(10, start)) {
    start = end + 1
    line += 1
  }
  return { reason: 'it is not UTF-8', line }
}

/** Editors of Windows write a byte order mark; without it, every other byte of plain English is 0. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  return bytes.length > 1 && bytes.length % 2 === 0 && (first === 0) !== (second === 0)
}

/** Decodes UTF-8, without the byte order mark that Windows puts first. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes)
}

/**
 * Reads and parses a JSON file, which may begin with a byte order mark.
 * @throws Error of the file system, SyntaxError
 */
export function readJsonFile(file: string): unknown {
  return JSON.parse(decodeText(readFileSync(file)))
}
