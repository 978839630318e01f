import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const config = path.join(root, '.dependency-cruiser.mjs')
const { default: configuration, layers, rooms }: Configuration = await import(config)

interface Configuration {
  readonly default: { readonly forbidden: readonly { readonly name: string }[] }
  readonly rooms: Readonly<Record<string, readonly string[]>>
  readonly layers: Readonly<Record<string, readonly string[]>>
}

/** Files by path. Text is a module that imports the named modules. */
type Files = Readonly<Record<string, string>>

interface Cruise {
  readonly modules: readonly { readonly source: string }[]
  readonly summary: {
    readonly violations: readonly {
      readonly from: string
      readonly to: string
      readonly rule: { readonly name: string }
    }[]
  }
}

const packages = [
  'fastify',
  '@mikro-orm/core',
  'yaml',
  '@oclif/core',
  'esbuild',
  'undici',
  'kysely',
  'left-pad',
  'react',
]
const developmentPackage = 'only-for-tests'

/** A tree in which each room has only allowed imports. */
const clean: Files = {
  'package.json': JSON.stringify({
    name: 'waypost',
    dependencies: Object.fromEntries(packages.map((name) => [name, '1'])),
    devDependencies: { [developmentPackage]: '1' },
  }),
  ...Object.fromEntries([...packages, developmentPackage, 'not-listed'].flatMap(makePackage)),
  ...Object.fromEntries(
    Object.entries(rooms).map(([room, allowed]) => [
      `src/${room}/index.ts`,
      `export const ${room} = 1\n${allowed.map((name) => `import type {} from '../${name}/index.ts'`).join('\n')}`,
    ]),
  ),
  'src/sql.ts': `export { store } from './store/index.ts'`,
  'src/index.ts': `export * from './contract/index.ts'`,
  'src/contract/action.ts': `import type { Kysely } from 'kysely'\nimport type { FastifyPluginAsync } from 'fastify'`,
  'src/runtime/gateway.ts': `import fastify from 'fastify'`,
  'src/store/orm.ts': `import { MikroORM } from '@mikro-orm/core'`,
  'src/definition/parse.ts': `import { parse } from 'yaml'`,
  'src/build/bundle.ts': `import { build } from 'esbuild'`,
  'src/outbound/agent.ts': `import { Agent } from 'undici'`,
  'src/backend/api/operations.ts': `export interface Operations {}`,
  'src/backend/ui/main.tsx': `import { useState } from 'react'\nimport { Page } from './pages/home.tsx'\nexport const app = <Page {...{}}>{useState}</Page>`,
  'src/backend/ui/pages/home.tsx': `import type { Operations } from '../../api/operations.ts'\nexport function Page() { return <></> }\nexport type Api = Operations`,
  'src/kit/environment.ts': `export const variables = process.env`,
  'src/kit/using.ts': `export function close() { using handle = open() }\nfunction open() { return { [Symbol.dispose]() {} } }`,
  'bin/cli/index.ts': `import { fill } from '../../src/kit/index.ts'\nexport const base = fill`,
  'bin/cli/text.ts': `import type { Deployed } from '../../src/project/index.ts'`,
  'commands/deploy.ts': `import '../bin/cli/text.ts'\nimport { base } from '../bin/cli/index.ts'\nimport type { Deployed } from '../src/project/index.ts'\nimport { Flags } from '@oclif/core'\nexport async function run() { await import('../src/project/index.ts') }`,
  'plugins/sql/src/index.ts': `import { open } from './open.ts'\nimport { MikroORM } from '@mikro-orm/core'`,
  'plugins/sql/src/open.ts': `export const open = 1`,
  'test/store/orm.test.ts': `import '../../src/store/orm.ts'`,
}

/** Files that violate each rule, and where it must be reported. */
const planted: Readonly<Record<string, { readonly files: Files; readonly at: string }>> = {
  'no-circle': {
    files: { 'src/kit/a.ts': `import type { B } from './b.ts'`, 'src/kit/b.ts': `import type { A } from './a.ts'` },
    at: 'src/kit/a.ts',
  },
  'room-door': plant('src/auth/token/tokens.ts', `import { MikroORM } from '../../store/orm.ts'`),
  'room-door-from-outside': plant('bin/demo.ts', `import { Agent } from '../src/outbound/agent.ts'`),
  ...Object.fromEntries(
    Object.entries(rooms).map(([room, allowed]) => {
      const other = Object.keys(rooms).find((name) => name !== room && !allowed.includes(name))
      return [`room-${room}`, plant(`src/${room}/reaches.ts`, `import type { Thing } from '../${other}/index.ts'`)]
    }),
  ),
  'known-room': {
    files: { 'src/helpers/index.ts': '', 'test/helpers.test.ts': `import '../src/helpers/index.ts'` },
    at: 'test/helpers.test.ts',
  },
  ...Object.fromEntries(
    Object.entries(layers).flatMap(([room, folders]) =>
      folders.map((folder, index) => {
        const above = folders[index + 1]
        const target = above === undefined ? '../index.ts' : `../${above}/reaches.ts`
        return [`layer-${room}-${folder}`, plant(`src/${room}/${folder}/reaches.ts`, `import type {} from '${target}'`)]
      }),
    ),
  ),
  'known-layer': {
    files: { 'src/auth/other/thing.ts': '', 'test/other.test.ts': `import '../src/auth/other/thing.ts'` },
    at: 'test/other.test.ts',
  },
  'pages-know-the-api': plant(
    'src/backend/ui/reaches.tsx',
    `import type {} from '../../kit/index.ts'\nexport const a = <b />`,
  ),
  'pages-know-types-only': plant(
    'src/backend/ui/pages/server.tsx',
    `import { Operations } from '../../api/operations.ts'`,
  ),
  'pages-need-no-node': plant('src/backend/ui/pages/crypto.tsx', `import { createHash } from 'node:crypto'`),
  'pages-are-built-apart': plant('src/backend/mount.ts', `import type {} from './ui/main.tsx'`),
  'pages-of-two-apps': plant('src/backend/ui/portal/home.tsx', `import { Page } from '../pages/home.tsx'`),
  'pages-of-one-app': {
    files: { 'src/backend/ui/portal/gate.tsx': '', 'src/backend/ui/pages/gated.tsx': `import '../portal/gate.tsx'` },
    at: 'src/backend/ui/pages/gated.tsx',
  },
  'face-index': plant('src/index.ts', `export { kit } from './kit/index.ts'`),
  'face-sql': plant('src/sql.ts', `export { kit } from './kit/index.ts'`),
  'known-face': plant('src/other.ts', `export { contract } from './contract/index.ts'`),
  'face-for-others': plant('src/release/face.ts', `import type {} from '../index.ts'`),
  'commands-only-call': plant('commands/migrate.ts', `import type { System } from '../src/store/index.ts'`),
  'commands-packages': plant('commands/dev.ts', `import pad from 'left-pad'`),
  'commands-load-late': plant('commands/serve.ts', `import { serve } from '../src/server/index.ts'`),
  launcher: plant('bin/cli/launch.ts', `import { store } from '../../src/store/index.ts'`),
  'launcher-types-only': plant('bin/cli/console.ts', `import { project } from '../../src/project/index.ts'`),
  'nothing-imports-upwards': plant('src/project/init.ts', `import '../../commands/deploy.ts'`),
  'plugins-use-the-published-face': plant(
    'plugins/http/src/index.ts',
    `import { fill } from '../../../src/kit/index.ts'`,
  ),
  'fence-fastify': plant('src/release/serve.ts', `import type { FastifyInstance } from 'fastify'`),
  'fence-mikro-orm': plant('src/release/entity.ts', `import { defineEntity } from '@mikro-orm/core'`),
  'fence-yaml': plant('src/build/read.ts', `import { parse } from 'yaml'`),
  'fence-oclif': plant('src/server/command.ts', `import { Command } from '@oclif/core'`),
  'fence-esbuild': plant('src/server/compile.ts', `const { build } = await import('esbuild')`),
  'fence-undici': plant('src/auth/fetch.ts', `import { request } from 'undici'`),
  'fence-react': plant('src/runtime/render.tsx', `import { useState } from 'react'`),
  'contract-types-only': plant('src/contract/schema.ts', `import { sql } from 'kysely'`),
  'fence-environment': plant('src/store/url.ts', `import { env } from 'node:process'`),
  'listed-package': plant('src/release/compare.ts', `import only from 'not-listed'`),
  'no-development-package': plant('plugins/redis/src/index.ts', `import only from '${developmentPackage}'`),
}

test('a tree that keeps the rules passes, and its modules are seen', (t) => {
  const { modules, summary } = cruise(makeTree(t, clean))
  assert.deepEqual(summary.violations, [])
  assert.ok(modules.filter(({ source }) => source.startsWith('src/')).length >= Object.keys(rooms).length)
})

test('every rule has a planted violation', () => {
  assert.deepEqual(Object.keys(planted).toSorted(), configuration.forbidden.map(({ name }) => name).toSorted())
})

test('every planted violation is seen by its rule', (t) => {
  const files = Object.assign({}, clean, ...Object.values(planted).map((violation) => violation.files))
  const { violations } = cruise(makeTree(t, files)).summary
  const seen = new Set(violations.map(({ from, rule }) => `${rule.name} ${from}`))
  assert.deepEqual(
    Object.entries(planted)
      .map(([name, { at }]) => `${name} ${at}`)
      .filter((expected) => !seen.has(expected)),
    [],
  )
})

test('every room of this repository is seen', () => {
  const folders = readdirSync(path.join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  // Of each room one file, without what that imports: `npm run check` takes all of them.
  const files = folders.flatMap(({ name }) => {
    const first = readdirSync(path.join(root, 'src', name)).find((file) => file.endsWith('.ts'))
    return first === undefined ? [] : [{ name, file: `src/${name}/${first}` }]
  })
  assert.ok(files.length >= Object.keys(rooms).length - 1, `${files.length} rooms`)
  const { modules } = cruise(root, ['--max-depth', '1', ...files.map(({ file }) => file)])
  for (const { name } of files) {
    assert.ok(
      modules.some(({ source }) => source.startsWith(`src/${name}/`)),
      name,
    )
  }
})

function plant(file: string, content: string): { files: Files; at: string } {
  return { files: { [file]: content }, at: file }
}

function makePackage(name: string): [string, string][] {
  return [
    [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' })],
    [`node_modules/${name}/index.js`, ''],
  ]
}

function makeTree(t: TestContext, files: Files): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-rooms-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
  return folder
}

function cruise(folder: string, words: readonly string[] = ['.']): Cruise {
  const program = path.join(root, 'node_modules/.bin/depcruise')
  const { stdout, stderr } = spawnSync(program, ['--config', config, '--output-type', 'json', ...words], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}
