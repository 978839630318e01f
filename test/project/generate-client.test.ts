import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { generateClient } from '../../src/project/index.ts'
import { everyCombination, nastyProject } from '../runtime/openapi/nasty-project.ts'
import { checkout } from '../support/cli.ts'
import { writeFiles } from '../support/project-server.ts'

test('the client of an API that is hard to describe, and of one with every kind of method, type-checks', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  try {
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    for (const [name, files] of Object.entries({ nasty: nastyProject, all: everyCombination() })) {
      await writeFiles(path.join(folder, name), files)
      const client = await generateClient({
        folder: path.join(folder, name),
        variables: {},
        onDiagnostics: (diagnostics) => assert.deepEqual(diagnostics, []),
      })
      await writeFile(path.join(folder, `${name}.ts`), client.replace('// @ts-nocheck\n', ''))
    }
    await writeFile(path.join(folder, 'use.ts'), use)
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }')
    const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
    assert.equal(execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' }), '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

// A tuple becomes an array of its item types.
const use = `import { postSearch, getOrderByX, getRoot } from './nasty.ts'
await postSearch({ p: ['a', 1], q: ['a', 2] })
// @ts-expect-error
await postSearch({ p: [true] })
const found = await getOrderByX('1', { date: '2027-01-31' })
if (found.status === 400) console.log(found.data.errors?.[0]?.path)
const page = await getRoot()
if (page.status === 200) console.log(page.data.length)
if (page.status === 204) console.log('nothing')
// @ts-expect-error
if (page.status === 201) console.log('created')
`
const config = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  files: ['use.ts', 'all.ts'],
}
