import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { constantModules } from '../../bin/build/write-constants.ts'
const checkout = path.join(import.meta.dirname, '../..')

/** Packages that take long to load. Commands that need one load it when they use it. */
const heavy = /^(fastify|typebox|@mikro-orm\/.*|ajv|ajv-formats|fast-json-stringify|esbuild|pino)(\/|$)/

const rooms = ['host', 'operate', 'project']
const entryOf = (room: string) => `src/${room}/index.ts`

let built: ReturnType<typeof buildRooms> | undefined
/** Builds the rooms as the built command line has them. */
function buildRooms() {
  return build({
    absWorkingDir: checkout,
    entryPoints: rooms.map(entryOf),
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
}

/** Returns the packages that a module and its static imports load. */
async function listLoaded(entry: string): Promise<string[]> {
  const { metafile } = await (built ??= buildRooms())
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

for (const room of rooms) {
  test(`commands that load the room ${room} load no package that takes long before they use it`, async () => {
    const loaded = await listLoaded(entryOf(room))
    assert.ok(loaded.includes('kysely'), loaded.join(' '))
    assert.deepEqual(
      loaded.filter((name) => heavy.test(name)),
      [],
    )
  })
}
