import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { buildRelease } from '../../src/build/index.ts'
import { definePlugin } from '../../src/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import type { BuiltRelease } from '../../src/release/index.ts'
import { importArtifact, registerArtifacts, resolveStack } from '../../src/release/load-artifacts.ts'
import { actionReturning, defineActions, makeProject } from '../build/project.ts'

interface Sample {
  readonly default: new () => { handle(...parameters: unknown[]): Promise<unknown> }
}

async function build(files: Readonly<Record<string, string>>, ...actions: string[]): Promise<BuiltRelease> {
  await using project = await makeProject(files)
  const definition = defineActions(...actions)
  const { release, diagnostics } = await buildRelease({
    root: project.root,
    version: '1.0.0',
    definition,
  })
  assert.deepEqual(diagnostics, [])
  return release!
}

/** Returns instances of a release's actions after its project was deleted. */
async function load({ manifest, artifacts }: BuiltRelease) {
  registerArtifacts(artifacts)
  const hashes = manifest.routes.map(({ methods }) => (methods[0]!.action as { readonly artifact: string }).artifact)
  const modules = (await Promise.all(hashes.map(importArtifact))) as Sample[]
  return modules.map(({ default: Action }) => new Action())
}

function makeArtifact(content: string) {
  return { hash: sha256(content), content }
}

test('actions of one release share the state of a module that both import', async () => {
  const release = await build(
    {
      'src/a.ts': actionReturning('++state.count', `import { state } from './state.ts'`),
      'src/b.ts': actionReturning('++state.count', `import { state } from './state.ts'`),
      'src/state.ts': 'export const state = { count: 0 }\n',
    },
    'src/a.ts',
    'src/b.ts',
  )
  const [a, b] = await load(release)
  assert.deepEqual([await a!.handle(), await b!.handle(), await a!.handle()], [1, 2, 3])
})

test('CommonJS packages run without their folder, with the modules of Node that they require', async () => {
  const release = await build(
    {
      'src/a.ts': actionReturning(
        'join("a", named)',
        `import path from 'legacy'\nimport { named } from 'legacy'\nconst { join } = path`,
      ),
      'node_modules/legacy/index.js':
        'exports.join = require("path").posix.join; exports.named = require("node:util").format("%s", "b")\n',
    },
    'src/a.ts',
  )
  const [a] = await load(release)
  assert.equal(await a!.handle(), 'a/b')
})

test('modules that import one another in a circle are loaded once each', async () => {
  const release = await build(
    {
      'src/a.ts': [
        `import { state } from './state.ts'`,
        `export default class Sample {`,
        `  async handle() {`,
        `    const lazy = await import('./lazy.ts')`,
        `    return [state, lazy.state, lazy.Sample === Sample]`,
        `  }`,
        `}`,
      ].join('\n'),
      'src/lazy.ts': `import Sample from './a.ts'\nimport { state } from './state.ts'\nexport { Sample, state }\n`,
      'src/b.ts': actionReturning('[(await import("./lazy.ts")).state, (await import("./a.ts")).default.name]'),
      'src/state.ts': 'export const state = { count: 0 }\n',
    },
    'src/a.ts',
    'src/b.ts',
  )
  assert.ok(
    release.artifacts.some(({ content }) => content.startsWith('/*waypost-alias:')),
    'the bundle has a circle',
  )
  const [a, b] = await load(release)
  const [state, lazyState, isSame] = (await a!.handle()) as [object, object, boolean]
  assert.equal(lazyState, state)
  assert.equal(isSame, true)
  assert.deepEqual(await b!.handle(), [state, 'Sample'])
})

test('"waypost" inside an artifact is the copy of the server', async () => {
  const release = await build(
    { 'src/a.ts': actionReturning('definePlugin', `import { definePlugin } from 'waypost'`) },
    'src/a.ts',
  )
  const [a] = await load(release)
  assert.equal(await a!.handle(), definePlugin)
})

test("a stack names the line and column of the project's file, also behind a first line with an alias", async () => {
  const insert = [
    `import { trim } from './trim.ts'`,
    ``,
    `export default class InsertTodo {`,
    `  lazy = () => import('./lazy.ts')`,
    ``,
    `  async handle(body: { title?: string }) {`,
    `    const words: string[] = []`,
    `    return words.concat(trim(body.title!.trim()))`,
    `  }`,
    `}`,
  ]
  const files = {
    'src/todo/insert.ts': insert.join('\n'),
    'src/todo/trim.ts': `export function trim(text: string): string {\n  if (text === '') throw new RangeError('empty')\n  return text\n}\n`,
    'src/todo/lazy.ts': `export { default } from './insert.ts'\n`,
    'src/grün #1/b.ts': actionReturning('trim("")', `import { trim } from '../todo/trim.ts'`),
  }
  const release = await build(files, 'src/todo/insert.ts', 'src/grün #1/b.ts')
  const insertArtifact = release.artifacts.find(({ content }) => content.includes('"InsertTodo"'))
  assert.match(insertArtifact!.content, /^\/\*waypost-alias:/)
  const [insertTodo, other] = await load(release)
  await assert.rejects(insertTodo!.handle({}), (error: Error) => {
    assert.match(resolveStack(error.stack!), /^TypeError: .*\n {4}at \S+ \(src\/todo\/insert\.ts:8:42\)$/m)
    return true
  })
  await assert.rejects(other!.handle({}), (error: Error) => {
    assert.match(resolveStack(error.stack!), /\(src\/todo\/trim\.ts:2:26\)\n {4}at \S+ \(src\/grün #1\/b\.ts:4:12\)$/m)
    return true
  })
})

test('an artifact whose content does not match its hash is not run, and can be registered again', async () => {
  const sound = makeArtifact('globalThis.ranCorrupt = true\nexport default 1\n')
  registerArtifacts([{ ...sound, content: `${sound.content} ` }])
  await assert.rejects(importArtifact(sound.hash), {
    code: 'WP_RUNTIME_ARTIFACT_CORRUPT',
    message: new RegExp(sound.hash),
  })
  assert.equal('ranCorrupt' in globalThis, false)
  registerArtifacts([sound])
  assert.deepEqual({ ...((await importArtifact(sound.hash)) as object) }, { default: 1 })
})

test('a corrupt artifact is not run as an import of an intact one, and cannot take the alias of another', async () => {
  const alias = sha256('alias')
  const sound = makeArtifact(`/*waypost-alias:${alias}*/\nexport default 'sound'\n`)
  const forged = { hash: sha256('forged'), content: `/*waypost-alias:${alias}*/\nexport default 'forged'\n` }
  const importer = makeArtifact(`export { default } from 'waypost-artifact:${alias}'\n`)
  const broken = makeArtifact(`import 'waypost-artifact:${forged.hash}'\n`)
  registerArtifacts([sound, forged, importer, broken])
  assert.deepEqual({ ...((await importArtifact(importer.hash)) as object) }, { default: 'sound' })
  await assert.rejects(importArtifact(broken.hash), { code: 'WP_RUNTIME_ARTIFACT_CORRUPT' })
})

test('an artifact that is not there is named', async () => {
  const importer = makeArtifact(`import 'waypost-artifact:${sha256('gone')}'\n`)
  registerArtifacts([importer])
  await assert.rejects(importArtifact(importer.hash), {
    code: 'WP_RUNTIME_ARTIFACT_MISSING',
    message: new RegExp(sha256('gone')),
  })
  await assert.rejects(importArtifact(sha256('never')), { code: 'WP_RUNTIME_ARTIFACT_MISSING' })
})

test('an artifact can import only modules of Node and waypost', async () => {
  const refused = [
    'kysely',
    './a.js',
    '/etc/passwd',
    'file:///etc/passwd',
    'data:text/javascript,1',
    'waypost/package.json',
    'waypost/store',
  ]
  for (const name of refused) {
    const artifact = makeArtifact(`export default await import(${JSON.stringify(name)})\n`)
    registerArtifacts([artifact])
    await assert.rejects(importArtifact(artifact.hash), {
      code: 'WP_RUNTIME_ARTIFACT_IMPORT',
      message: new RegExp(`"${name}"`),
    })
  }
  const files = {
    'src/a.ts': actionReturning('legacy("kysely")', `import legacy from 'legacy'`),
    'node_modules/legacy/index.js': 'require("fs"); module.exports = (name) => require(name)\n',
  }
  const release = await build(files, 'src/a.ts')
  const [a] = await load(release)
  await assert.rejects(a!.handle(), { code: 'WP_RUNTIME_ARTIFACT_IMPORT' })
  const builtin = makeArtifact(`export { sep } from 'path'\nexport { DatabaseSync } from 'node:sqlite'\n`)
  registerArtifacts([builtin])
  assert.equal(typeof ((await importArtifact(builtin.hash)) as { readonly sep: string }).sep, 'string')
})

test('the rest of the server imports as before', async () => {
  registerArtifacts([])
  assert.equal((await import('kysely')).Kysely.name, 'Kysely')
  const missing = 'no-such-package-anywhere'
  await assert.rejects(import(missing), { code: 'ERR_MODULE_NOT_FOUND' })
})

test('a file that the file system does not take is an error, and no part of it is left', async () => {
  const script = `
    import { readdirSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    import path from 'node:path'
    const { makeFileArtifact, pathOfFileArtifact, registerArtifacts } = await import('${release}/load-artifacts.ts')
    const file = makeFileArtifact('a.bin', Buffer.alloc(2_000_000))
    registerArtifacts([file])
    const before = new Set(readdirSync(tmpdir()))
    let code
    try { pathOfFileArtifact(file.hash) } catch (error) { code = error.code }
    const [made] = readdirSync(tmpdir()).filter((name) => name.startsWith('waypost-files-') && !before.has(name))
    console.log(JSON.stringify([code, readdirSync(path.join(tmpdir(), made))]))`
  await using home = await makeProject({})
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', 'ulimit -f 500 && exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { env: { ...process.env, TMPDIR: home.root } },
  )
  assert.deepEqual(JSON.parse(stdout), ['WP_RELEASE_FILE', []])
})

const release = path.join(import.meta.dirname, '../../src/release')
