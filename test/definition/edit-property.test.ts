import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { isMap, isScalar, isSeq, Lexer, parse, parseDocument, type Node as YamlNode, type Pair } from 'yaml'
import { editDefinition, EditRefused, makeSourceCache, openEditing, type Writable } from '../../src/definition/index.ts'
import { reparse } from '../../src/definition/edit/reparse.ts'
import { parseTree, type Tree } from '../../src/definition/edit/source-tree.ts'
import { isLong } from '../support/forms.ts'
import { fc } from '../support/property.ts'
import { type Files, dice, started, start, isMapValue, choose, setAt } from './random-edits.ts'

// Random edits over real and generated projects. The value at the keys is the new one; every line outside the touched
// entry stays byte for byte, and every comment outside it survives.

const root = path.join(import.meta.dirname, 'no-such-folder')

class IncludeAt {
  readonly target: string
  constructor(target: string) {
    this.target = target
  }
}

/** Reads the definition without the code that is tested. */
function read(files: Files, file = 'waypost.yml', keys: readonly string[] = []): unknown {
  const text = files.get(file)!.replace(/^\u{FEFF}/u, '')
  const document = parseDocument(text, {
    schema: 'core',
    uniqueKeys: false,
    customTags: [{ tag: '!include', resolve: (target: string) => ({ include: target }) as unknown as string }],
  })
  assert.deepEqual(
    document.errors.map(({ message }) => message),
    [],
    text,
  )
  const convert = (node: YamlNode | null): unknown => {
    if (isMap(node)) {
      const entries = (node.items as Pair<YamlNode, YamlNode | null>[]).map(({ key, value }) => {
        const name = isScalar(key)
          ? typeof key.value === 'string'
            ? key.value
            : (key.source ?? String(key.value))
          : ''
        return [name, convert(value)] as const
      })
      return Object.fromEntries(entries)
    }
    if (isSeq(node)) return (node.items as YamlNode[]).map(convert)
    const plain = isScalar(node) ? node.value : null
    return typeof plain === 'object' && plain !== null ? new IncludeAt((plain as { include: string }).include) : plain
  }
  const resolve = (value: unknown): unknown => {
    if (value instanceof IncludeAt) {
      const [name = '', pointer = ''] = value.target.split('#')
      const target = path.posix.join(path.posix.dirname(file), name)
      return read(files, target, pointer.split('/').slice(1))
    }
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]))
  }
  let found = convert(document.contents)
  for (const key of keys) found = (found as Record<string, unknown>)[key]
  return resolve(found)
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

interface Range {
  readonly start: number
  readonly end: number
}

/** The text of the parts of a value that differ: whole entries, and brackets to which something is added. */
function listTouched(
  text: string,
  node: YamlNode | null,
  { before, after }: { before: unknown; after: unknown },
): readonly Range[] {
  const [start = 0, , end = text.length] = node?.range ?? []
  if (isMap(node) && isMapValue(before) && isMapValue(after) && Object.keys(after).length > 0) {
    const items = node.items as Pair<YamlNode, YamlNode | null>[]
    const isGrown = Object.keys(after).some((key) => !Object.hasOwn(before, key))
    const isShrunk = Object.keys(before).some((key) => !Object.hasOwn(after, key))
    const ranges = items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? (typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))) : ''
      const [from, to] = [key.range![0], Math.max(key.range![1] + 1, value?.range?.[2] ?? 0)]
      if (!Object.hasOwn(after, name)) return [{ start: from, end: to }]
      if (isEqual(before[name], after[name])) return []
      const isKept = isFilled(before[name]) && isFilled(after[name]) && isMap(value)
      return isKept
        ? listTouched(text, value, { before: before[name], after: after[name] })
        : [{ start: from, end: to }]
    })
    const isAll = node.flow === true && (isGrown || isShrunk)
    return isAll || items.length === 0 ? [{ start: start - 1, end }] : ranges
  }
  return [{ start, end }]
}

function isFilled(value: unknown): boolean {
  return isMapValue(value) && Object.keys(value).length > 0
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Returns the comments of a YAML text with their places. */
function listComments(text: string): readonly { readonly comment: string; readonly at: number }[] {
  const found: { comment: string; at: number }[] = []
  let at = 0
  for (const token of new Lexer().lex(text)) {
    if (token === '\u0002' || token === '\u0018' || token === '\u001F') continue
    if (token.startsWith('#') && (at === 0 || /\s/.test(text[at - 1]!))) found.push({ comment: token.trimEnd(), at })
    at += token.length
  }
  return found
}

const counts = { edits: 0, refused: new Map<string, number>(), comments: 0, above: 0, lost: 0, parts: 0 }
const examples: string[] = []

function check(
  before: Files,
  after: Files,
  { keys, value }: { keys: readonly string[]; value: Writable | undefined },
): void {
  const [was, now] = [read(before), read(after)]
  const expected = setAt(was, keys, value)
  assert.deepEqual(plain(now), plain(expected))
  for (const [file, old] of before) {
    const text = after.get(file)
    if (text === undefined || text === old) continue
    checkReparsed(file, old, text)
    checkLines(file, { old, text }, { was: readAlone(before, file), now: readAlone(after, file) })
  }
}

/** A long file is parsed in part, with the same result. */
function checkReparsed(file: string, old: string, text: string): void {
  const [before, after] = [old, text].map((one) => one.replace(/^\u{FEFF}/u, '')) as [string, string]
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let tail = 0
  const rest = Math.min(before.length, after.length) - start
  while (tail < rest && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const tree = parseTree(file, before)
  assert.ok(!('problem' in tree))
  const splices = [{ start, end: before.length - tail, text: after.slice(start, after.length - tail) }]
  for (const limit of [0, 60]) {
    const parsed = reparse({ file, text: before, tree }, { splices, after, limit })
    assert.deepEqual(plain(parsed), plain(parseTree(file, after)), `${before}\n=>\n${after}`)
    if (limit === 0 && parsed !== undefined && 'entries' in parsed && 'entries' in tree)
      counts.parts += countShared(parsed, tree)
  }
}

/** Counts the trees that were kept. */
function countShared(one: Tree, other: Tree): number {
  const kept = new Set<unknown>()
  const visit = (tree: Tree, see: (tree: Tree) => void): void => {
    see(tree)
    if ('entries' in tree) for (const { value } of tree.entries) visit(value, see)
    if ('items' in tree) for (const { value } of tree.items) visit(value, see)
  }
  visit(other, (tree) => kept.add(tree))
  let count = 0
  visit(one, (tree) => (count += kept.has(tree) ? 1 : 0))
  return count
}

function readAlone(files: Files, file: string): unknown {
  const text = files.get(file)!.replace(/^\u{FEFF}/u, '')
  return parse(text, {
    schema: 'core',
    uniqueKeys: false,
    customTags: [{ tag: '!include', resolve: (target: string) => `!include ${target}` }],
  })
}

function checkLines(
  file: string,
  { old, text }: { old: string; text: string },
  { was, now }: { was: unknown; now: unknown },
): void {
  const bare = old.replace(/^\u{FEFF}/u, '')
  assert.equal(text.startsWith('\u{FEFF}'), old.startsWith('\u{FEFF}'))
  const document = parseDocument(bare, { schema: 'core', uniqueKeys: false, logLevel: 'silent' })
  const touched = listTouched(bare, document.contents, { before: was, after: now })
  const isTouched = (start: number, end: number): boolean => touched.some((one) => one.start <= end && start <= one.end)
  if (/\r\n/.test(bare) && !/[^\r]\n/.test(bare)) assert.doesNotMatch(text, /[^\r]\n/)
  const lines = text.replace(/^\u{FEFF}/u, '').split(/\r?\n/)
  let next = 0
  let at = 0
  for (const line of bare.split('\n')) {
    const [start, end] = [at, at + line.length]
    at = end + 1
    if (isTouched(start, end) || line.trim() === '' || line.trim().startsWith('#') || end === bare.length) continue
    const found = lines.indexOf(line.replace(/\r$/, ''), next)
    assert.notEqual(found, -1, `${file}: the line ${JSON.stringify(line)} changed\n${bare}\n=>\n${text}`)
    next = found + 1
  }
  const rest = listComments(text.replace(/^\u{FEFF}/u, '')).map(({ comment }) => comment)
  for (const { comment, at: place } of file.endsWith('.json') ? [] : listComments(bare)) {
    counts.comments += 1
    if (isTouched(place, place)) continue
    const index = rest.indexOf(comment)
    if (index !== -1) rest.splice(index, 1)
    else if (isAboveRemoved(bare, place, isTouched)) counts.above += 1
    else {
      counts.lost += 1
      examples.push(`${comment}\n${showDiff(bare, text.replace(/^\u{FEFF}/u, ''))}`)
    }
  }
}

/** A comment directly above an entry is removed with it. */
function isAboveRemoved(text: string, place: number, isTouched: (start: number, end: number) => boolean): boolean {
  for (let at = text.indexOf('\n', place) + 1; at > 0; at = text.indexOf('\n', at) + 1) {
    const [spaces = '', next = ''] = /^ *(.?)/.exec(text.slice(at)) ?? []
    if (next !== '#') return isTouched(at + spaces.length - 1, at + spaces.length)
  }
  return false
}

function showDiff(old: string, text: string): string {
  const [one, other] = [old.split('\n'), text.split('\n')]
  let head = 0
  while (head < one.length && one[head] === other[head]) head += 1
  let tail = 0
  while (tail < one.length - head && tail < other.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1
  const show = (lines: string[], sign: string) => lines.slice(head, lines.length - tail).map((line) => sign + line)
  return [`@ ${head + 1}`, ...show(one, '-'), ...show(other, '+')].join('\n')
}

const editsOfOne = 10

test(
  'after any edit the value is the new one, and other lines and comments are unchanged',
  { timeout: 3_600_000 },
  () => {
    fc.assert(
      fc.property(started, fc.array(dice, { minLength: editsOfOne, maxLength: editsOfOne }), (project, rolls) => {
        let files = start(project)
        const cache = makeSourceCache()
        for (const roll of rolls) {
          const edit = choose(read(files), roll)
          counts.edits += 1
          const after = apply(files, edit, cache)
          if (after === undefined) continue
          check(files, after, edit)
          files = after
        }
      }),
      { numRuns: isLong ? 2000 : 12 },
    )
    const refused = [...counts.refused].map(([reason, count]) => `${count} ${reason}`)
    process.stdout.write(
      `${counts.edits} edits; refused: ${refused.join('; ') || 'none'}; ${counts.lost} of ${counts.comments} comments lost, ${counts.above} removed with the entry below them\n`,
    )
    assert.deepEqual(examples, [])
    assert.ok(counts.parts > counts.edits, 'most trees of other entries are kept')
  },
)

/** Undefined if the edit is refused. */
function apply(
  files: Files,
  edit: { keys: readonly string[]; value: Writable | undefined },
  cache: ReturnType<typeof makeSourceCache>,
): Files | undefined {
  try {
    const after = new Map(files)
    for (const [file, text] of editDefinition(openEditing(root, { texts: files, cache }), [edit])) {
      if (text === undefined) after.delete(file)
      else after.set(file, text)
    }
    return after
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error
    const reason = error.reason.replaceAll(/"[^"]*"|\/\S*|\bitem \S+/g, '…')
    counts.refused.set(reason, (counts.refused.get(reason) ?? 0) + 1)
    return undefined
  }
}
