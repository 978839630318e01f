import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Location } from '../definition/index.ts'
import { makePlace, type Place } from './make-diagnostic.ts'

/** Returns the place of a text at a location, without quotes. */
export async function loadPlace(root: string, at: Location, text: string): Promise<Place> {
  const source = (await loadLines(root, at.file))[at.line - 1]
  const found = source?.indexOf(text, at.column - 1) ?? -1
  const column = found === -1 ? at.column : found + 1
  return makePlace(at.file, at.line, { column, length: text.length, source })
}

/** Returns the place of the first import of a specifier in a file, or the beginning of the file if not found. */
export async function loadImportPlace(root: string, file: string, specifier: string): Promise<Place> {
  const lines = await loadLines(root, file)
  for (const quote of ["'", '"', '`']) {
    const quoted = quote + specifier + quote
    const index = lines.findIndex((line) => line.includes(quoted) && /\b(import|from|require)\b/.test(line))
    const source = lines[index]
    if (source === undefined) continue
    return makePlace(file, index + 1, { column: source.indexOf(quoted) + 1, length: quoted.length, source })
  }
  return makePlace(file, 1, { source: lines[0] })
}

async function loadLines(root: string, file: string): Promise<string[]> {
  try {
    return (await readFile(path.join(root, file), 'utf8')).split(/\r?\n/)
  } catch {
    return []
  }
}
