/** A record of a CSV file. */
export interface CsvRecord {
  /** The line of the file in which it begins, from 1. */
  readonly line: number
  readonly fields: readonly CsvField[]
}

export interface CsvField {
  readonly text: string
  /** An empty cell in quotes is an empty text; without quotes, it has no value. */
  readonly isQuoted: boolean
}

/** What is wrong with the file itself. */
export class CsvProblem extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

export const maxFieldLength = 1024 * 1024
const maxFields = 1000
const delimiters = [',', ';', '\t'] as const

/**
 * Parses a CSV file while it is read: with or without a BOM, with commas, semicolons or tabs, as the first line has them,
 * and with any line ends. Empty lines are skipped; with one column, each is a record without a value.
 * @throws CsvProblem
 */
export async function* parseCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parser = new CsvParser()
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new CsvProblem(parser.line, 'The file is not UTF-8. Save it as "CSV UTF-8"')
    }
  }
  for await (const chunk of chunks) {
    parser.write(decode(chunk))
    yield parser.take()
  }
  parser.write(decode())
  parser.end()
  yield parser.take()
}

class CsvParser {
  /** The current line. */
  line = 1
  #delimiter: string | undefined
  #rest = ''
  #records: CsvRecord[] = []
  #fields: CsvField[] = []
  #start = 1
  #text = ''
  #state: 'begin' | 'plain' | 'quoted' | 'closed' = 'begin'
  /** The number of values in the first line; 0 before it. */
  #width = 0

  write(text: string): void {
    this.#rest += text
    if (this.#delimiter === undefined) {
      this.#delimiter = findDelimiter(this.#rest)
      if (this.#delimiter === undefined) return this.#checkLength(this.#rest.length)
    }
    // The last character may be the first of two.
    const end = this.#rest.length - 1
    let at = 0
    while (at < end) at = this.#step(this.#rest, at)
    this.#rest = this.#rest.slice(at)
  }

  end(): void {
    this.#delimiter ??= ','
    let at = 0
    while (at < this.#rest.length) at = this.#step(this.#rest, at)
    if (this.#state === 'quoted') throw new CsvProblem(this.#start, 'A quote is not closed')
    if (this.#state !== 'begin' || this.#fields.length > 0) this.#endRecord()
  }

  take(): CsvRecord[] {
    return this.#records.splice(0)
  }

  /** Reads from a position, as many characters as have the same meaning. @returns the next position */
  #step(all: string, at: number): number {
    if (this.#state === 'quoted') return this.#readQuoted(all, at)
    const character = all[at]!
    if (character === this.#delimiter) return this.#endField(at)
    if (character === '\n' || character === '\r') {
      this.#endRecord()
      this.#countLine()
      return at + (character === '\r' && all[at + 1] === '\n' ? 2 : 1)
    }
    if (character === '"' && this.#state === 'begin') {
      this.#state = 'quoted'
      return at + 1
    }
    if (this.#state === 'closed') throw new CsvProblem(this.line, 'There is text after a closing quote')
    this.#state = 'plain'
    return this.#readPlain(all, at)
  }

  #readPlain(all: string, at: number): number {
    let end = at + 1
    while (end < all.length && all[end] !== this.#delimiter && all[end] !== '\n' && all[end] !== '\r') end += 1
    this.#add(all.slice(at, end))
    return end
  }

  #readQuoted(all: string, at: number): number {
    const quote = all.indexOf('"', at)
    const end = quote === -1 ? all.length : quote
    if (end > at) {
      const text = all.slice(at, end)
      this.#add(text)
      this.line += text.split('\n').length - 1
      return end
    }
    if (all[at + 1] === '"') {
      this.#add('"')
      return at + 2
    }
    this.#state = 'closed'
    return at + 1
  }

  #add(text: string): void {
    this.#text += text
    this.#checkLength(this.#text.length)
  }

  #checkLength(length: number): void {
    if (length > maxFieldLength) throw new CsvProblem(this.#start, 'A value has more than 1,048,576 characters')
  }

  #endField(at: number): number {
    this.#pushField()
    return at + 1
  }

  #pushField(): void {
    this.#fields.push({ text: this.#text, isQuoted: this.#state === 'closed' })
    if (this.#fields.length > maxFields) throw new CsvProblem(this.#start, 'A line has more than 1,000 values')
    this.#text = ''
    this.#state = 'begin'
  }

  #endRecord(): void {
    const isEmpty = this.#fields.length === 0 && this.#state === 'begin'
    if (isEmpty && this.#width !== 1) return
    this.#pushField()
    this.#width ||= this.#fields.length
    this.#records.push({ line: this.#start, fields: this.#fields })
    this.#fields = []
  }

  #countLine(): void {
    this.line += 1
    this.#start = this.line
  }
}

/** Finds the delimiter that the first line has most often; undefined while the line is not complete. */
function findDelimiter(text: string): string | undefined {
  const plain = text.replaceAll(/"(?:[^"]|"")*("|$)/g, '')
  const end = plain.search(/[\r\n]/)
  if (end === -1) return undefined
  const line = plain.slice(0, end)
  const counts = delimiters.map((one) => line.split(one).length)
  return delimiters[counts.indexOf(Math.max(...counts))]
}
