import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listTouched } from '../../src/backend/draft/system/draft-changes.ts'
import {
  findPointers,
  findValue,
  listDifferences,
  makeDifferenceCache,
  makeSourceCache,
  openEditing,
  type SourceCache,
} from '../../src/definition/index.ts'
import { EditedFile, parseTree, type Tree } from '../../src/definition/edit/source-tree.ts'

/** Counts how often the keys and anchors of a tree are read. */
function countReads(tree: Tree, counter: { reads: number }): Tree {
  const counted = <Node extends object>(node: Node, name: 'key' | 'anchor'): Node => {
    const value = (node as Record<string, unknown>)[name]
    return Object.defineProperty({ ...node }, name, { get: () => ((counter.reads += 1), value), enumerable: true })
  }
  const own = counted(tree, 'anchor')
  if (own.kind === 'map') {
    const entries = own.entries.map((entry) => counted({ ...entry, value: countReads(entry.value, counter) }, 'key'))
    return Object.defineProperty(own, 'entries', { value: entries })
  }
  if (own.kind !== 'list') return own
  const items = own.items.map((item) => ({ ...item, value: countReads(item.value, counter) }))
  return Object.defineProperty(own, 'items', { value: items })
}

const file = 'waypost.yml'

function openCounted(text: string, counter: { reads: number }, cache: SourceCache): void {
  const parsed = parseTree(file, text)
  assert.ok(!('problem' in parsed))
  const one = new EditedFile({ file, text, tree: countReads(parsed, counter) })
  cache.edited.set(file, [one, ...(cache.edited.get(file) ?? [])])
}

const lines = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join('')
const schemas = (count: number, type = 'string') =>
  `schema:\n${lines(count, (index) => `  K${index}: { type: ${type} }\n`)}`

/** What each function reads of a definition with this many entries. */
const works: Readonly<Record<string, (count: number) => number>> = {
  'comparing a definition with an empty one'(count) {
    const [counter, cache] = [{ reads: 0 }, makeDifferenceCache()]
    const text = schemas(count)
    openCounted(text, counter, cache.sources)
    assert.equal(listDifferences(new Map(), new Map([[file, text]]), cache).length, count)
    return counter.reads
  },
  'comparing definitions in which every entry differs'(count) {
    const [counter, cache] = [{ reads: 0 }, makeDifferenceCache()]
    const [before, after] = [schemas(count), schemas(count, 'integer')]
    for (const text of [before, after]) openCounted(text, counter, cache.sources)
    assert.equal(listDifferences(new Map([[file, before]]), new Map([[file, after]]), cache).length, count)
    return counter.reads
  },
  'reading a definition with an alias on each line'(count) {
    const [counter, cache] = [{ reads: 0 }, makeSourceCache()]
    const text = `schema:\n  K: &k { type: string }\n${lines(count, (index) => `  K${index}: *k\n`)}`
    openCounted(text, counter, cache)
    findValue(openEditing(undefined, { texts: new Map([[file, text]]), cache }), [])
    return counter.reads
  },
  'reading a map with many merge keys'(count) {
    const [counter, cache] = [{ reads: 0 }, makeSourceCache()]
    const text = `schema:\n  K: &k { type: string }\n  L:\n${'    <<: *k\n'.repeat(count)}`
    openCounted(text, counter, cache)
    findValue(openEditing(undefined, { texts: new Map([[file, text]]), cache }), [])
    return counter.reads
  },
  'finding the entries of places'(count) {
    const counter = { reads: 0 }
    const text = schemas(count)
    const places = Array.from({ length: count }, (_, index) => ({
      file,
      get line() {
        counter.reads += 1
        return index + 2
      },
      column: 3,
    }))
    const found = findPointers(openEditing(undefined, { texts: new Map([[file, text]]) }), places)
    assert.equal(found.at(-1), `/schema/K${count - 1}`)
    return counter.reads
  },
  'finding the changes that an edit makes'(count) {
    const counter = { reads: 0 }
    const edited = Array.from({ length: count }, (_, index) => ({
      get name() {
        counter.reads += 1
        return `/schema/K${index}`
      },
      at: undefined,
      file,
      status: 'added' as const,
      files: [file],
    }))
    assert.equal(
      listTouched(
        Array.from({ length: count }, (_, index) => `/schema/K${index}`),
        edited,
      ).length,
      count,
    )
    return counter.reads
  },
}

for (const [name, work] of Object.entries(works)) {
  test(`${name} takes twice the work for twice the entries`, () => {
    const [one, two] = [work(400), work(800)]
    assert.ok(one > 0)
    // Sorting and searching take a little more.
    assert.ok(two <= 2.3 * one, `${one} reads, then ${two}`)
  })
}
