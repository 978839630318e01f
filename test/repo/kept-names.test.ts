import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { keepChangedNames } from '../../bin/build/keep-names.ts'

test('classes and functions of a bundle keep their names, and functions that are made later cost nothing more', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-names-'))
  const of = (value: number) => `
    class Problem extends Error {}
    function make() { const inner = () => ${value}; return inner }
    const Alone = class {}
    export const all = [Problem, make, Alone, make]`
  await writeFile(path.join(folder, 'one.js'), of(1))
  await writeFile(path.join(folder, 'two.js'), of(2))
  await writeFile(
    path.join(folder, 'entry.js'),
    `import { all as one } from './one.js'
    import { all as two } from './two.js'
    export const all = [one, two]`,
  )
  const outdir = path.join(folder, 'out')
  const options = {
    bundle: true,
    keepNames: true,
    minifyWhitespace: true,
    minifySyntax: true,
    splitting: true,
  } as const
  await build({ entryPoints: [path.join(folder, 'entry.js')], outdir, format: 'esm', platform: 'node', ...options })
  keepChangedNames(outdir)
  const { all } = (await import(pathToFileURL(path.join(outdir, 'entry.js')).href)) as { all: (() => () => number)[][] }
  const names = all.map((list) => list.map(({ name }) => name))
  assert.deepEqual(names, [
    ['Problem', 'make', 'Alone', 'make'],
    ['Problem', 'make', 'Alone', 'make'],
  ])
  for (const [index, list] of all.entries()) {
    const inner = list[1]!()
    assert.equal(inner(), index + 1)
    assert.equal(inner.name, '', 'its name was not set')
  }
  await rm(folder, { recursive: true })
})
