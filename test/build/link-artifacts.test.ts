import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkArtifacts, type UnlinkedModule } from '../../src/build/link-artifacts.ts'
import { sha256 } from '../../src/kit/index.ts'

/** A module with its own text that imports others. */
function makeModule(name: string, text: string, ...imports: string[]): UnlinkedModule {
  return {
    name,
    imports,
    write: (resolve, header) => [header, ...imports.map((other) => `import '${resolve(other)}'`), text].join('\n'),
  }
}

/** Returns the hashes by module, with module names and their order changed. */
function hashes(
  modules: readonly UnlinkedModule[],
  rename: (name: string) => string = (name) => name,
  reverse = false,
) {
  const renamed = modules.map((module) => ({
    name: rename(module.name),
    imports: module.imports.map(rename),
    write: (resolve: (name: string) => string, header: string) => module.write((name) => resolve(rename(name)), header),
  }))
  const linked = linkArtifacts(reverse ? renamed.toReversed() : renamed)
  return Object.fromEntries(modules.map(({ name }) => [name, linked.get(rename(name))!.hash]))
}

const graphs: readonly [what: string, modules: readonly UnlinkedModule[]][] = [
  ['a tree', [makeModule('a', 'A', 'b', 'c'), makeModule('b', 'B', 'c'), makeModule('c', 'C')]],
  ['two in a circle', [makeModule('a', 'A', 'b'), makeModule('b', 'B', 'a')]],
  ['one that imports itself', [makeModule('a', 'A', 'a', 'b'), makeModule('b', 'B')]],
  [
    'a circle of three with one above and one below',
    [
      makeModule('top', 'T', 'a', 'c'),
      makeModule('a', 'A', 'b', 'low'),
      makeModule('b', 'B', 'c'),
      makeModule('c', 'C', 'a'),
      makeModule('low', 'L'),
    ],
  ],
  [
    'two circles, one above the other',
    [makeModule('a', 'A', 'b', 'c'), makeModule('b', 'B', 'a'), makeModule('c', 'C', 'd'), makeModule('d', 'D', 'c')],
  ],
]

test('modules are named by their content, regardless of their names and order', () => {
  for (const [what, modules] of graphs) {
    const expected = hashes(modules)
    assert.deepEqual(
      hashes(modules, (name) => `z-${name.split('').toReversed().join('')}`, true),
      expected,
      what,
    )
    for (const { hash, content } of linkArtifacts(modules).values()) assert.equal(hash, sha256(content), what)
  }
})

test('every import leads to an artifact, by its hash or by the alias in its first line', () => {
  for (const [what, modules] of graphs) {
    const artifacts = [...linkArtifacts(modules).values()]
    const known = new Set(
      artifacts.flatMap(({ hash, content }) => [hash, /^\/\*waypost-alias:(.{64})\*\//.exec(content)?.[1]]),
    )
    const imported = artifacts.flatMap(({ content }) =>
      [...content.matchAll(/'waypost-artifact:(.*)'/g)].map(([, name]) => name),
    )
    assert.equal(
      imported.length,
      modules.reduce((sum, { imports }) => sum + imports.length, 0),
      what,
    )
    for (const name of imported) assert.ok(known.has(name), what)
  }
})

test('circles of the same texts that are wired otherwise have other aliases', () => {
  const around = linkArtifacts([makeModule('a', 'A', 'b'), makeModule('b', 'B', 'c'), makeModule('c', 'C', 'a')])
  const back = linkArtifacts([makeModule('a', 'A', 'c'), makeModule('b', 'B', 'a'), makeModule('c', 'C', 'b')])
  const alias = (linked: typeof around, name: string) => linked.get(name)!.content.split('\n', 1)[0]
  for (const name of ['a', 'b', 'c']) assert.notEqual(alias(around, name), alias(back, name))
})

test('a change below a cycle changes the names of the whole cycle and of its importers', () => {
  const make = (text: string) =>
    hashes([
      makeModule('top', 'T', 'a'),
      makeModule('a', 'A', 'b'),
      makeModule('b', 'B', 'a', 'low'),
      makeModule('low', text),
      makeModule('aside', 'S'),
    ])
  const [before, after] = [make('1'), make('2')]
  for (const name of ['top', 'a', 'b', 'low']) assert.notEqual(after[name], before[name], name)
  assert.equal(after['aside'], before['aside'])
})
