// The package as npm packs it, installed into an empty folder: nothing of this repository is near it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { cleanEnvironment, startCli } from '../support/cli.ts'

const checkout = path.join(import.meta.dirname, '../..')
const isRoot = process.getuid?.() === 0
/** As a container does, which runs as any user. */
const user = isRoot ? { uid: 12_345 } : {}

let box: string
let installed: Error | undefined
/** Any user may write here: Node keeps what it has compiled. */
let temporary: string

/** The machine may reach the registry only through a proxy with a certificate of its own. */
const { NODE_EXTRA_CA_CERTS = '' } = process.env
const npm = (words: readonly string[], cwd: string) =>
  promisify(execFile)('npm', words, { cwd, env: cleanEnvironment({ NO_UPDATE_NOTIFIER: '1', NODE_EXTRA_CA_CERTS }) })

before(async () => {
  box = await mkdtemp(path.join(tmpdir(), 'waypost-packed-'))
  await chmod(box, 0o755)
  temporary = path.join(box, 'temporary')
  await mkdir(temporary)
  await chmod(temporary, 0o1777)
  await npm(['pack', '.', './create', '--ignore-scripts', '--pack-destination', box], checkout)
  const files = globSync('*.tgz', { cwd: box }).map((file) => `./${file}`)
  await writeFile(path.join(box, 'package.json'), '{ "private": true, "allowScripts": { "esbuild": false } }')
  const words = ['install', '--prefer-offline', '--no-audit', '--fetch-retries=1', '--fetch-retry-mintimeout=1000']
  await npm([...words, ...files], box).catch((error: Error) => (installed = error))
})
after(() => rm(box, { recursive: true, force: true }))

/** Skips a test without network; any other reason fails it. */
function needsPackage(context: { skip(reason: string): void }): boolean {
  if (installed === undefined) return true
  assert.match(String(installed), /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|_CERT/)
  context.skip('npm cannot reach its registry')
  return false
}

const run = (words: string, cwd: string) => {
  const launcher = path.join(box, 'node_modules/waypost/bin/run.js')
  return startCli(words.split(' '), { cwd, launcher, ...user, env: { HOME: cwd, TMPDIR: temporary } })
}

test('nothing is installed that is not needed', async (context) => {
  if (!needsPackage(context)) return
  const modules = path.join(box, 'node_modules')
  const names = globSync(['*/package.json', '@*/*/package.json'], { cwd: modules }).map((file) => path.dirname(file))
  assert.deepEqual(names.filter((name) => !name.startsWith('@esbuild/')).toSorted(), [
    'create-waypost',
    'esbuild',
    'waypost',
  ])
  const project = path.join(box, 'needed')
  await cp(path.join(modules, 'waypost/templates/empty'), project, { recursive: true })
  if (isRoot) await chown(project, 12_345, 12_345)
  await rename(path.join(modules, 'esbuild'), path.join(box, 'esbuild'))
  assert.notEqual((await run('validate', project).ended).code, 0)
  await rename(path.join(box, 'esbuild'), path.join(modules, 'esbuild'))
  const { code, stdout, stderr } = await run('validate', project).ended
  assert.equal(code, 0, stdout + stderr)
})

test('the package has the licences and the bill of materials of what is inside, which doctor lists', async (context) => {
  if (!needsPackage(context)) return
  const modules = path.join(box, 'node_modules')
  const { packages: locked } = JSON.parse(readFileSync(path.join(checkout, 'package-lock.json'), 'utf8'))
  const versions = new Map<string, Set<string>>()
  for (const [folder, { version }] of Object.entries<{ readonly version: string }>(locked)) {
    const name = folder.split('node_modules/').at(-1)!
    versions.set(name, (versions.get(name) ?? new Set()).add(version))
  }
  const lists = ['vendor', 'ui'].map((part) => {
    const folder = path.join(modules, 'waypost/dist', part)
    const bom = JSON.parse(readFileSync(path.join(folder, 'sbom.cdx.json'), 'utf8'))
    assert.deepEqual([bom.bomFormat, bom.metadata.component.name], ['CycloneDX', 'waypost'])
    const licences = readFileSync(path.join(folder, 'LICENSES.txt'), 'utf8')
    const components = bom.components as readonly { readonly name: string; readonly version: string }[]
    for (const { name, version } of components) {
      assert.ok(versions.get(name)?.has(version), `${name} ${version} is not what is built from`)
      assert.ok(licences.includes(`${name} ${version}, `), `no licence of ${name} ${version}`)
    }
    return components.map(({ name }) => name)
  })
  for (const name of ['fastify', 'kysely', 'pg', 'undici', '@oclif/core', 'oazapfts'])
    assert.ok(lists[0]!.includes(name), name)
  for (const name of ['react', '@mantine/core', '@codemirror/view']) assert.ok(lists[1]!.includes(name), name)
  const { code, stdout, stderr } = await run('doctor --packages --json', box).ended
  assert.equal(code, 0, stderr)
  const listed = JSON.parse(stdout) as readonly { readonly name: string; readonly licence: string }[]
  assert.deepEqual(listed.map(({ name }) => name).toSorted(), lists.flat().toSorted())
  assert.deepEqual(
    listed.filter(({ licence }) => !/MIT|ISC|BSD|Apache-2\.0|BlueOak/.test(licence)),
    [],
  )
})

test('npm create waypost passes its arguments to init', async (context) => {
  if (!needsPackage(context)) return
  const home = path.join(box, 'created')
  await mkdir(home)
  if (isRoot) await chown(home, 12_345, 12_345)
  const launcher = path.join(box, 'node_modules/.bin/create-waypost')
  const create = (words: string) =>
    startCli(words.split(' '), { cwd: home, launcher, ...user, env: { HOME: home, TMPDIR: temporary } }).ended
  const created = await create('my-api --template empty --yes --no-install')
  assert.equal(created.code, 0, created.stdout + created.stderr)
  assert.match(created.stdout, /Created +my-api\/ from the template "empty"/)
  assert.ok(existsSync(path.join(home, 'my-api/waypost.yml')))
  const wrong = await create('other --template none --yes')
  assert.notEqual(wrong.code, 0)
  assert.ok(!existsSync(path.join(home, 'other')))
})

test('no module inside imports or requires a package that is not installed', async (context) => {
  if (!needsPackage(context)) return
  const dist = path.join(box, 'node_modules/waypost/dist')
  const chunks = globSync('{bin,chunks,commands,src}/**/*.js', { cwd: dist })
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: chunks,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  const found = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external))
  const names = new Set(found.map((one) => one.path).filter((name) => !isBuiltin(name)))
  // MikroORM and tracing look for theirs, and work without them.
  for (const optional of ['dataloader', '@opentelemetry/api', '@opentelemetry/sdk-node']) names.delete(optional)
  assert.deepEqual([...names], ['esbuild'])
  // A `require` that a module makes itself has a number, and is not seen by esbuild.
  const own = chunks.flatMap((file) => [
    ...readFileSync(path.join(dist, file), 'utf8').matchAll(/\brequire\d+\(["']([^"'.][^"']*)["']\)/g),
  ])
  assert.deepEqual(
    own.map(([, name]) => name!).filter((name) => !isBuiltin(name)),
    [],
  )
})

test('a project is created, developed, deployed and served, as any user', async (context) => {
  if (!needsPackage(context)) return
  const home = path.join(box, 'home')
  await mkdir(home)
  if (isRoot) await chown(home, 12_345, 12_345)
  const created = await run('init my-api --template todo --yes --no-install', home).ended
  assert.equal(created.code, 0, created.stdout + created.stderr)
  const project = path.join(home, 'my-api')
  const { dependencies } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'))
  assert.match(dependencies.waypost, /^file:.*waypost-[\d.]+\.tgz$/)
  assert.ok(existsSync(path.join(project, dependencies.waypost.slice('file:'.length))))

  const dev = run('dev --port 0', project)
  const [, preview] = await dev.waitFor(/(http:\/\/[\w.]+:\d+)/)
  assert.equal((await fetch(`${preview}/todo`)).status, 200)
  assert.equal((await dev.stop()).code, 0)

  await useLateParts(project)
  await rm(path.join(project, '.waypost'), { recursive: true })
  const migrated = await run('migrate', project).ended
  assert.equal(migrated.code, 0, migrated.stdout + migrated.stderr)
  const deployed = await run('deploy --yes', project).ended
  assert.equal(deployed.code, 0, deployed.stdout + deployed.stderr)
  const server = run('serve --port 0', project)
  const [, url] = await server.waitFor(/Serving +(http:\S+)/)
  assert.equal((await fetch(`${url}/todo`)).status, 200)
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200)
  const send = (product: object) => fetch(`${url}/product`, { method: 'POST', body: JSON.stringify(product), headers })
  assert.deepEqual(await (await send({ code: 'ABC', price: '12.50' })).json(), { isSaved: true })
  assert.equal((await send({ code: 'abc', price: '12.50' })).status, 400)
  assert.equal((await send({ code: 'ABC', price: '12,50' })).status, 400)
  assert.equal((await fetch(`${url}/titles`)).status, 200)
  assert.equal((await server.stop()).code, 0)
})

const headers = { 'content-type': 'application/json' }

/** Adds what loads packages on first use: configs of classes, patterns, exact decimals and tables. */
async function useLateParts(project: string): Promise<void> {
  const file = path.join(project, 'waypost.yml')
  const text = readFileSync(file, 'utf8')
  const routes = `routes:
  /product:
    methods:
      POST:
        public: true
        request: Product
        action: { class: respond, config: { body: { isSaved: true } } }
  /titles:
    methods:
      GET: { public: true, action: { class: sql-table, config: { table: app_todo, columns: [id, title] } } }`
  const product = `{ type: object, required: [code, price], properties: {
    code: { type: string, pattern: "^[A-Z]{3}$" }, price: { type: string, format: decimal } } }`
  await writeFile(file, text.replace('routes:', routes))
  const schemas = path.join(project, 'resources/schema.yml')
  await writeFile(schemas, `${readFileSync(schemas, 'utf8')}\nProduct: ${product}\n`)
}

test('types of projects need nothing but those of Node, even if libraries are checked', async (context) => {
  if (!needsPackage(context)) return
  const modules = path.join(checkout, 'node_modules')
  for (const name of ['@types/node', 'undici-types'])
    await cp(path.join(modules, name), path.join(box, 'node_modules', name), { recursive: true })
  const project = path.join(box, 'typed')
  await cp(path.join(checkout, 'templates/todo'), project, { recursive: true })
  const generated = await run('validate', path.join(box, 'home/my-api')).ended
  assert.equal(generated.code, 0, generated.stderr)
  await cp(path.join(box, 'home/my-api/.waypost'), path.join(project, '.waypost'), { recursive: true })
  await writeFile(
    path.join(project, 'src/faces.ts'),
    [
      "import { CompiledQuery, sql, definePlugin } from 'waypost'",
      "import { Command } from 'waypost/cli'",
      "import { Kysely, openPostgres } from 'waypost/sql'",
      "import { createTestApp } from 'waypost/testing'",
      'export const used = [CompiledQuery, sql, definePlugin, Command, Kysely, openPostgres, createTestApp]',
    ].join('\n'),
  )
  assert.ok((await readdir(path.join(project, '.waypost'))).includes('types.d.ts'))
  const options = ['--noEmit', '-p', project, '--skipLibCheck', 'false', '--exactOptionalPropertyTypes']
  const tsc = path.join(modules, '.bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, ...options], { cwd: project }).catch((error: { stdout: string }) =>
    assert.fail(error.stdout),
  )
})
