import { Scalar, stringify } from 'yaml'
import { isInline, writeInline, writeItemValue, writeValue, type Writable } from '../write-yaml.ts'
import { lineStartOf, type Tree } from './source-tree.ts'
import { type Page, type Container, type Placed, columnOf } from './splices.ts'

/** Writes the value of an entry in the style of the old value or of the entries beside it. */
export function writeEntryLike(
  page: Page,
  { tree, start, parent }: Container,
  { index, key, value, isInline: isOneLine, old }: Placed & { old?: Tree },
): readonly [string, ...string[]] {
  if (isOneLine === true) return [writeInline(value)]
  const entries = tree.kind === 'map' ? tree.entries : []
  const column = columnOf(page.text, start + (entries[0]?.start ?? 0))
  const indent = { column, step: page.step.length }
  const like =
    old?.kind === 'scalar' && typeof value === 'string' ? writeScalarLike(old.style, value, indent) : undefined
  if (like !== undefined) return like
  const others = [...entries.slice(0, index).toReversed(), ...entries.slice(index)].map((entry) => entry.value)
  const beside = others.find((one) => one !== old && one.kind === 'map' && one.entries.length > 0)
  const isFlow =
    beside?.kind === 'map' ? beside.isFlow : old?.kind === 'map' && old.entries.length > 0 ? old.isFlow : undefined
  const isShort = isInline(key, value, isFlow === true ? 'beside' : parent)
  return isFlow !== false && isShort ? [writeInline(value)] : writeValue(key, value, indent)
}

export function writeItemLike(
  { step: { length: step } }: Page,
  column: number,
  { old, value, isInline: isOneLine }: Placed & { old?: Tree },
): readonly [string, ...string[]] {
  if (isOneLine === true) return [writeInline(value)]
  const outer = { step, column: column - step }
  const like =
    old?.kind === 'scalar' && typeof value === 'string' ? writeScalarLike(old.style, value, outer) : undefined
  return like ?? writeItemValue(value, { step, column })
}

const types = {
  single: 'QUOTE_SINGLE',
  double: 'QUOTE_DOUBLE',
  literal: 'BLOCK_LITERAL',
  folded: 'BLOCK_FOLDED',
} as const

/** Writes a text with the quotes or the block of the old one. */
function writeScalarLike(
  style: string,
  text: string,
  { column, step }: { column: number; step: number },
): [string, ...string[]] | undefined {
  if (!(style in types) || (style === 'single' && /[\n\r]/.test(text))) return undefined
  const scalar = new Scalar(text)
  scalar.type = types[style as keyof typeof types]
  const isBlock = style === 'literal' || style === 'folded'
  const written = stringify({ k: scalar }, { lineWidth: isBlock ? 80 : 0, indent: Math.max(1, step) })
  const [head = '', ...lines] = written.replace(/\n$/, '').slice('k:'.length).split('\n')
  return [head.trimStart(), ...lines.map((line) => (line === '' ? '' : ' '.repeat(Math.max(0, column)) + line))]
}

/** Writes a value inside brackets. JSON is written over several lines where the file is. */
export function writeFlow(
  page: Page,
  at: number,
  { old, value }: { readonly old?: Tree | undefined; readonly value: Writable },
): string {
  if (page.isJson) return writeJson(page, at, value)
  if (old?.kind === 'scalar' && typeof value === 'string' && (old.style === 'double' || old.style === 'single')) {
    const [head, ...lines] = writeScalarLike(old.style, value, { column: 0, step: 1 }) ?? ['', '']
    if (lines.length === 0) return head
  }
  return writeInline(value)
}

function writeJson({ text, step, newline }: Page, at: number, value: Writable): string {
  const line = text.slice(lineStartOf(text, at), at)
  const pad = /^[ \t]*/.exec(line)![0]
  // Beside other entries on one line, or in a file of one line.
  if (!text.trim().includes('\n') || (line.trim() !== '' && line.trim() !== '{' && line.trim() !== '['))
    return JSON.stringify(value)
  return JSON.stringify(value, undefined, step).replaceAll('\n', newline + pad)
}
