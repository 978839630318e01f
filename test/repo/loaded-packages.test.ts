import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { constantModules } from '../../bin/build/write-constants.ts'
const checkout = path.join(import.meta.dirname, '../..')

/** Packages that take long to load. Commands that need one load it when they use it. */
const heavy = /^(fastify|typebox|@mikro-orm\/.*|ajv|ajv-formats|fast-json-stringify|esbuild|pino)(\/|$)/

/** Returns the packages that a module and its static imports load, as the built command line does. */
async function listLoaded(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: checkout,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    external: constantModules.map((name) => path.join(checkout, `${name}.ts`)),
    outdir: 'unwritten',
    write: false,
    metafile: true,
  })
  const isStatic = (one: { readonly kind: string }) => one.kind === 'import-statement'
  const outputs = Object.entries(metafile.outputs)
  const reached = outputs.filter(([, { entryPoint }]) => entryPoint === entry).map(([file]) => file)
  const loaded = new Set<string>()
  for (const file of reached) {
    for (const one of metafile.outputs[file]!.imports.filter(isStatic)) {
      if (one.external) loaded.add(one.path)
      else if (!reached.includes(one.path)) reached.push(one.path)
    }
  }
  return [...loaded]
}

for (const room of ['host', 'operate', 'project']) {
  test(`commands that load the room ${room} load no package that takes long before they use it`, async () => {
    const loaded = await listLoaded(`src/${room}/index.ts`)
    assert.ok(loaded.includes('kysely'), loaded.join(' '))
    assert.deepEqual(
      loaded.filter((name) => heavy.test(name)),
      [],
    )
  })
}
