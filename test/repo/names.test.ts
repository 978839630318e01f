// The verbs of CONTRIBUTING whose meaning a signature shows.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** What a function returns whose name begins with a verb. */
const returns: Readonly<Record<string, RegExp>> = {
  is: /\bboolean\b| is /,
  has: /\bboolean\b| is /,
  can: /\bboolean\b/,
  may: /\bboolean\b/,
  list: /\[\]|Map<|Set<|Array<|Iterable<|List\b|Page\b|\bListed\w+s\b/,
}

/** On one line, or with parameters on lines of their own. */
const signature = /^export (?:async )?function (([a-z]+)(?![a-z])\w*)(?:.*\)|.*[({]\n(?: .*\n)*?[)}].*?): (.*) \{$/gm

/** Lists the exported functions of a source that declare what they return, and return something else. */
function findMisnamed(source: string): readonly string[] {
  return [...source.matchAll(signature)].flatMap(([, name = '', verb = '', end = '']) => {
    const returned = end.split('): ').at(-1)!
    const isFine = !Object.hasOwn(returns, verb) || returns[verb]!.test(returned)
    return isFine ? [] : [`${name}: ${returned}`]
  })
}

test('functions return what their verb says', () => {
  const files = globSync(['{src,bin,commands}/**/*.ts', 'plugins/{sql,http,redis}/src/**/*.ts'])
  assert.ok(files.length > 500)
  assert.deepEqual(
    files.flatMap((file) => findMisnamed(readFileSync(file, 'utf8'))),
    [],
  )
})

test('a function that returns something else is found', () => {
  const source = `export function isOpen(door: Door): door is OpenDoor {
}
export function hasKey({ key }: Door): string {
}
export async function listDoors(
  house: House,
  { most }: { readonly most: number },
): Promise<Door> {
}
export function listen(): void {
}
`
  assert.deepEqual(findMisnamed(source), ['hasKey: string', 'listDoors: Promise<Door>'])
})
