import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Where the tests of a changed file are, by how its path begins. */
const folders: readonly (readonly [start: RegExp, folders: readonly string[]])[] = [
  [/^src\/(\w+)\//, ['test/$1/']],
  [/^src\/backend\/ui\//, ['test/browser/']],
  [/^plugins\/(\w+)\//, ['plugins/$1/test/']],
  [/^(bin|commands)\//, ['test/bin/', 'test/e2e/']],
  [/^(docs|templates)\/|^\w+\.md$/, ['test/repo/']],
]

/**
 * Lists what differs from main: in commits of this branch, in the working folder, and files that git does not know yet.
 * All paths of this module are relative to the repository, which is the working folder.
 */
export function listChanged(): string[] {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const [fork = 'main'] = git('merge-base', 'main', 'HEAD')
  return [...new Set([...git('diff', '--name-only', fork), ...git('ls-files', '--others', '--exclude-standard')])]
}

/**
 * Returns the tests that belong to the room of a changed file, import that room themselves, or use the file directly or
 * through other files below `test/`. Nearly every test imports nearly everything in the end, so imports of the product's
 * own files are not followed.
 */
export function findTestsOf(changed: readonly string[], tests: readonly string[]): string[] {
  const places = changed.flatMap((file) =>
    folders.flatMap(([start, names]) => {
      const found = start.exec(file)
      return found === null ? [] : names.map((name) => name.replace('$1', found[1]!))
    }),
  )
  const rooms = changed.flatMap((file) => /^src\/\w+\//.exec(file) ?? [])
  return tests.filter((test) => {
    const used = followImports(test)
    const own = importsOf(test)
    return (
      places.some((place) => test.startsWith(place)) ||
      rooms.some((room) => own.some((file) => file.startsWith(room))) ||
      changed.some((file) => used.has(file))
    )
  })
}

function followImports(test: string): ReadonlySet<string> {
  const files = new Set([test])
  for (const file of files) if (file.includes('test/')) for (const next of importsOf(file)) files.add(next)
  return files
}

const known = new Map<string, readonly string[]>()

/** Modules that a file imports, other than for types alone, or names by a path, as of a process that it starts. */
function importsOf(file: string): readonly string[] {
  const found = known.get(file) ?? readImports(file)
  known.set(file, found)
  return found
}

function readImports(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^(import|export) type [^']*'[^']*'/gm, '')
  return [...text.matchAll(/'([^'\n]+\.ts)'/g)].flatMap(([, name = '']) => {
    const target = path.join(path.dirname(file), name)
    return existsSync(target) ? [target] : []
  })
}
