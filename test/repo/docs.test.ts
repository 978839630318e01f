import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const { rooms }: { rooms: Readonly<Record<string, readonly string[]>> } = await import(
  path.join(root, '.dependency-cruiser.mjs')
)

test('the table of rooms in docs/architecture.md is the one that is enforced', () => {
  const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, room = '', allowed = '']) => [
    room,
    allowed,
  ])
  assert.deepEqual(
    Object.fromEntries(rows),
    Object.fromEntries(Object.entries(rooms).map(([room, allowed]) => [room, nameAll(room, allowed)])),
  )
})

test('every file and folder of this repository that a page names is there', () => {
  // The tutorial names files of its project, which its own test reads.
  const pages = globSync(['CONTRIBUTING.md', 'docs/**/*.md'], { cwd: root, exclude: ['docs/tutorial.md'] })
  const missing = pages.flatMap((page) =>
    pathsIn(readFileSync(path.join(root, page), 'utf8'))
      .filter((file) => !existsSync(path.join(root, file)))
      .map((file) => `${page}: ${file}`),
  )
  assert.deepEqual(missing, [])
})

test('every link from page to page leads to a file', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  const broken = pages.flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/\]\(([^)#:]+)(#[^)]*)?\)/g)]
      .map(([, target = '']) => path.join(path.dirname(page), target))
      .filter((target) => !existsSync(path.join(root, target)))
      .map((target) => `${page}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

test('every link to a part of a page leads to a heading', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  const read = (page: string) => readFileSync(path.join(root, page), 'utf8')
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)]
      .map(([, file = '', anchor = '']) => [file === '' ? page : path.join(path.dirname(page), file), anchor] as const)
      .filter(([file, anchor]) => !anchorsOf(read(file)).has(anchor))
      .map(([file, anchor]) => `${page}: ${file}#${anchor}`),
  )
  assert.deepEqual(broken, [])
})

/** Returns the anchors of headings, as generated for repository pages, and explicit ones. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
  return new Set([...headings, ...[...page.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)])
}

function nameAll(room: string, allowed: readonly string[]): string {
  if (allowed.length === 0) return 'nothing'
  const above = Object.keys(rooms).slice(0, Object.keys(rooms).indexOf(room))
  const excluded = above.filter((other) => !allowed.includes(other))
  if (allowed.length <= 10 || excluded.length > 2) return allowed.join(', ')
  return excluded.length === 0 ? 'all of the above' : `all of the above except ${excluded.join(' and ')}`
}

/** Returns paths in code spans that begin with one of our folders, without patterns and placeholders. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:\.ci|bench|bin|commands|docs|plugins|src|templates|test)\/[\w./-]*)`/g)].map(
    ([, file = '']) => file,
  )
}
