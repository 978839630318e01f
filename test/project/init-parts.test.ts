import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import Init from '../../commands/init.ts'
import { approveBuilds } from '../../src/definition/index.ts'
import { readEnvFile, type PackageManager } from '../../src/kit/index.ts'
import { initProject, listParts } from '../../src/project/index.ts'
import { readRegistry } from '../../src/project/init/registry.ts'

let home: string
before(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-parts-')))
})
after(() => rm(home, { recursive: true, force: true }))

const options = { force: false, install: false }

test('a new project has deployment files with its own name', async () => {
  const folder = path.join(home, 'Shop API')
  const report = await initProject({ ...options, folder, parts: ['docker', 'github', 'docker'] })
  assert.equal(report.template, 'todo')
  assert.equal(report.files.length, 19)
  assert.deepEqual(report.added, ['.dockerignore', 'Dockerfile', 'compose.yml', '.github/workflows/waypost.yml'])
  assert.deepEqual(report.left, [])
  const compose = await readFile(path.join(folder, 'compose.yml'), 'utf8')
  assert.match(compose, /^name: shop-api$/m)
  assert.match(compose, /^ {2}deploy:$/m)
  assert.match(compose, / user:add ann --scopes todo$/m)
  const dockerfile = await readFile(path.join(folder, 'Dockerfile'), 'utf8')
  assert.match(dockerfile, /^FROM project AS deploy$/m)
  for (const text of [compose, dockerfile]) assert.doesNotMatch(text, /project>|server>|my-scopes/)
})

test('the settings of a pnpm workspace get decisions about install scripts once, beside what they contain', () => {
  const approve = (text: string) => approveBuilds(text, { esbuild: false })
  const read = (text: string) => parse(approve(text)) as unknown
  const decided = { allowBuilds: { esbuild: false }, ignoredBuiltDependencies: ['esbuild'] }
  assert.deepEqual(read('packages:\n  - apps/*\n'), { packages: ['apps/*'], ...decided })
  assert.deepEqual(read('# Builds\nallowBuilds:\n  sharp: true\npackages: [a]'), {
    packages: ['a'],
    ...decided,
    allowBuilds: { esbuild: false, sharp: true },
  })
  assert.equal(
    approve('# Ours\npackages:\n- a # main\nignoredBuiltDependencies:\n- sharp\nallowBuilds:\n    sharp: true\n'),
    '# Ours\npackages:\n- a # main\nignoredBuiltDependencies:\n- sharp\n- esbuild\nallowBuilds:\n  sharp: true\n  esbuild: false\n',
  )
  assert.deepEqual(read('allowBuilds:\ncatalog:\n  esbuild: ^0.27\n'), { ...decided, catalog: { esbuild: '^0.27' } })
  const unchanged = [
    'allowBuilds:\n  esbuild: true\n',
    'onlyBuiltDependencies: [esbuild]\n',
    'allowBuilds: [a\n',
    'allowBuilds: 1\n',
  ]
  for (const text of [approve(''), ...unchanged]) assert.equal(approve(text), text)
  assert.deepEqual(parse(approveBuilds('packages: [a]', { esbuild: false, node: true })), {
    packages: ['a'],
    allowBuilds: { esbuild: false, node: true },
    ignoredBuiltDependencies: ['esbuild'],
    onlyBuiltDependencies: ['node'],
  })
})

test('init uses the package manager that called it or that manages the folder, with its settings', async () => {
  const bin = path.join(home, 'bin')
  await mkdir(bin)
  // Notes what it was called with, and installs into the workspace, as npm does.
  // No flags: those of versions of pnpm differ.
  const program = `#!/bin/sh\n[ "$(basename "$0")" = npm ] || [ $# = 1 ] || exit 2\necho "$(basename "$0") $1" > called\nmkdir -p ../node_modules/waypost && touch ../node_modules/waypost/waypost.schema.json\n`
  for (const name of ['npm', 'pnpm', 'yarn', 'bun']) await writeFile(path.join(bin, name), program, { mode: 0o755 })
  const { PATH, npm_config_user_agent: agent } = process.env
  const rows: [agent: string, files: Record<string, string>, called: string][] = [
    ['pnpm/12.21.0 npm/? node/v26', {}, 'pnpm install'],
    [
      'npm/11.0.0 node/v26',
      { 'package.json': '{ "packageManager": "yarn@4.9.1" }', 'package-lock.json': '' },
      'yarn install',
    ],
    ['', { 'bun.lock': '' }, 'bun install'],
    ['npm/11.0.0 node/v26', {}, 'npm install'],
    ['yarn/1.22.22 npm/? node/v26', {}, 'yarn install'],
    ['yarn/4.9.1 npm/? node/v26', { '.yarnrc.yml': 'nodeLinker: pnp' }, 'yarn install'],
  ]
  try {
    for (const [index, [by, around, called]] of rows.entries()) {
      const outer = path.join(home, `managed${index}`)
      await mkdir(outer)
      for (const [file, text] of Object.entries(around)) await writeFile(path.join(outer, file), text)
      const folder = path.join(outer, 'api')
      Object.assign(process.env, {
        PATH: `${bin}:${PATH}`,
        npm_config_user_agent: by,
      })
      const report = await initProject({ ...options, install: true, template: 'todo', folder })
      assert.deepEqual(
        [(await readFile(path.join(folder, 'called'), 'utf8')).trim(), report.manager],
        [called, called.split(' ')[0]],
      )
      const settings = await readFile(path.join(folder, 'pnpm-workspace.yaml'), 'utf8').catch(() => undefined)
      assert.equal(
        settings !== undefined && (parse(settings) as { allowBuilds: object }).allowBuilds !== undefined,
        index === 0,
      )
      const yarn = await readFile(path.join(folder, '.yarnrc.yml'), 'utf8').catch(() => undefined)
      assert.equal(
        yarn !== undefined && (parse(yarn) as { nodeLinker: string }).nodeLinker === 'node-modules',
        index === 1,
      )
      const comments = {
        'waypost.yml': '../node_modules/waypost/waypost.schema.json',
        'resources/schema.yml': '../../node_modules/waypost/waypost-schemas.schema.json',
        'resources/routes/todo/entity.yml': '../../../../node_modules/waypost/waypost-route.schema.json',
      }
      for (const [file, schema] of Object.entries(comments)) {
        const [comment] = (await readFile(path.join(folder, file), 'utf8')).split('\n')
        assert.equal(comment, `# yaml-language-server: $schema=${schema}`)
      }
    }
  } finally {
    Object.assign(process.env, { PATH })
    for (const [name, value] of Object.entries({ npm_config_user_agent: agent })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
})

test('where packages come from is known from npm and from the settings of Yarn', async () => {
  const bin = path.join(home, 'asked')
  await mkdir(bin)
  const answer = '{ "registry": "http://npm.test/", "https-proxy": "http://proxy.test" }'
  await writeFile(path.join(bin, 'npm'), `#!/bin/sh\n[ "$*" = "config list --json" ] && echo '${answer}'\n`, {
    mode: 0o755,
  })
  const { PATH, https_proxy: usual, npm_config_user_agent: agent } = process.env
  const read = async (manager: PackageManager, folder = bin) => {
    const { url, proxies } = await readRegistry(manager, folder)
    return [url, proxies['https_proxy']]
  }
  try {
    process.env['PATH'] = bin
    for (const manager of ['npm', 'pnpm', 'bun', 'yarn'] as const)
      assert.deepEqual(await read(manager), ['http://npm.test/', 'http://proxy.test'])
    process.env['PATH'] = home
    assert.deepEqual(await read('bun'), ['https://registry.npmjs.org/', usual])
    const inner = path.join(bin, 'inner')
    await mkdir(inner)
    await writeFile(
      path.join(bin, '.yarnrc.yml'),
      'npmRegistryServer: http://yarn.test\nhttpsProxy: http://outer.test\n',
    )
    await writeFile(path.join(inner, '.yarnrc.yml'), 'httpsProxy: http://inner.test\n')
    assert.deepEqual(await read('yarn', inner), ['http://yarn.test', 'http://inner.test'])
    process.env['PATH'] = bin
    process.env['npm_config_user_agent'] = 'yarn/1.22.22 npm/? node/v26' // does not read these files
    assert.deepEqual(await read('yarn', inner), ['http://npm.test/', 'http://proxy.test'])
  } finally {
    Object.assign(process.env, { PATH })
    if (agent === undefined) delete process.env['npm_config_user_agent']
    else process.env['npm_config_user_agent'] = agent
  }
})

test('each part can be added to an existing project without changing its files', async () => {
  const folder = path.join(home, 'there')
  await mkdir(folder)
  await writeFile(path.join(folder, 'waypost.yml'), 'routes: {}\n')
  await writeFile(path.join(folder, 'compose.yml'), 'mine\n')
  const report = await initProject({ ...options, folder, parts: await listParts() })
  assert.equal(report.template, undefined)
  assert.deepEqual([report.files, report.left], [[], ['compose.yml']])
  assert.equal(await readFile(path.join(folder, 'waypost.yml'), 'utf8'), 'routes: {}\n')
  assert.equal(await readFile(path.join(folder, 'compose.yml'), 'utf8'), 'mine\n')
  const there = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  assert.equal(there.length, report.added.length + 2)
  for (const name of report.added) {
    assert.doesNotMatch(await readFile(path.join(folder, name), 'utf8'), /my-api/, name)
  }
  const again = await initProject({ ...options, folder, parts: await listParts() })
  assert.deepEqual(again.added, [])
  assert.deepEqual(again.left.toSorted(), [...report.added, 'compose.yml'].toSorted())
})

test('files for Docker and Kubernetes name the variables of the project, and run its cronjobs', async () => {
  const folder = path.join(home, 'variables')
  await mkdir(path.join(folder, 'src'), { recursive: true })
  const yml = `
env:
  STOCK_URL: { description: "Where the\\n  stock is" }
  STOCK_TOKEN: { secret: true }
  STOCK_PAGE: { type: integer, default: 50 }
connection: { Orders: { class: postgresql, config: { url: "\${env.ORDERS_URL}" } } }
cronjob: { tidy: { schedule: 0 3 * * *, action: src/tidy.ts } }
`
  await writeFile(path.join(folder, 'waypost.yml'), yml)
  await writeFile(path.join(folder, 'src/tidy.ts'), '')
  await initProject({ ...options, folder, parts: ['docker', 'kubernetes'] })
  const text = (name: string) => readFile(path.join(folder, name), 'utf8')
  const compose = await text('compose.yml')
  const { environment } = parse(compose)['x-waypost']
  const needed = (name: string) => `\${${name}:?set it in .env}`
  const { ORDERS_URL, STOCK_PAGE, STOCK_TOKEN, STOCK_URL } = environment
  assert.deepEqual(
    [ORDERS_URL, STOCK_PAGE, STOCK_TOKEN, STOCK_URL],
    [needed('ORDERS_URL'), '${STOCK_PAGE:-}', needed('STOCK_TOKEN'), needed('STOCK_URL')],
  )
  assert.match(compose, /^#   STOCK_URL           Where the stock is$/m)
  assert.match(compose, / user:add ann$/m)
  assert.deepEqual(parse(compose).services.server.command, ['serve', '--cron'])
  const kubernetes = 'deploy/kubernetes/'
  assert.ok(parse(await text(`${kubernetes}kustomization.yml`)).resources.includes('cron.yml'))
  assert.match(await text(`${kubernetes}config.yml`), /^  # STOCK_URL: '' # Where the stock is$/m)
  for (const file of ['compose.yml', `${kubernetes}config.yml`, `${kubernetes}kustomization.yml`])
    assert.doesNotMatch(await text(file), /variables>|With cronjobs/, file)
})

test('without variables and cronjobs they show where to add them', async () => {
  const folder = path.join(home, 'plain')
  await initProject({ ...options, folder, parts: ['docker', 'kubernetes'] })
  const compose = await readFile(path.join(folder, 'compose.yml'), 'utf8')
  assert.deepEqual(parse(compose).services.server.command, ['serve'])
  assert.match(compose, /^    # With cronjobs: command: \[serve, --cron\]$/m)
  assert.doesNotMatch(compose, /variables>|ORDERS_URL/)
  const list = await readFile(path.join(folder, 'deploy/kubernetes/kustomization.yml'), 'utf8')
  assert.deepEqual(parse(list).resources, ['config.yml', 'server.yml', 'events.yml'])
})

test('the folder of a server contains Waypost and no project, and accepts parts too', async () => {
  const folder = path.join(home, 'server')
  const made = await initProject({ ...options, folder, template: 'host' })
  assert.deepEqual(made.files, ['.env', '.env.example', '.gitignore', 'README.md', 'package.json'])
  const environment = readEnvFile(path.join(folder, '.env'))
  assert.equal(environment['HOST'], '127.0.0.1')
  assert.equal(Buffer.from(environment['WAYPOST_SECRET'] ?? '', 'base64').length, 32)
  assert.equal((await stat(path.join(folder, '.env'))).mode & 0o777, 0o600)
  const { template, added } = await initProject({ ...options, folder, parts: ['systemd', 'docker'] })
  assert.equal(template, undefined)
  const compose = await readFile(path.join(folder, 'compose.yml'), 'utf8')
  assert.doesNotMatch(compose, /project>|deploy/, 'there is nothing to deploy')
  assert.match(compose, /^ {2}server:$/m)
  assert.match(compose, /# ORDERS_URL: .* the variables of the release$/m)
  assert.doesNotMatch(compose, /variables>/)
  assert.ok(added.includes('deploy/systemd/waypost@.service'))
})

test('a folder with other files is not a project, and nothing is written without --force', async () => {
  const folder = path.join(home, 'other')
  await mkdir(folder)
  await writeFile(path.join(folder, 'package.json'), '{"dependencies":{"fastify":"*"}}')
  await assert.rejects(initProject({ ...options, folder, parts: ['docker'] }), { code: 'WP_PROJECT_NOT_EMPTY' })
  assert.deepEqual(await readdir(folder), ['package.json'])
})

test('nothing is written into a folder in which a project cannot be built', async () => {
  if (path.sep !== '/') return
  const made = initProject({ ...options, folder: path.join(home, 'back\\slash') })
  await assert.rejects(made, { code: 'WP_PROJECT_BACKSLASH' })
  assert.ok(!(await readdir(home)).some((name) => name.includes('\\')))
})

test('nothing is written through a link that leads out of the folder', async () => {
  const folder = path.join(home, 'linked')
  await mkdir(folder)
  await writeFile(path.join(folder, 'waypost.yml'), 'routes: {}\n')
  await symlink(path.join(home, 'outside'), path.join(folder, 'Dockerfile'))
  const { left } = await initProject({ ...options, folder, parts: ['docker'] })
  assert.deepEqual(left, ['Dockerfile'])
  await assert.rejects(readFile(path.join(home, 'outside')), { code: 'ENOENT' })
})

test('the folder of the parts is not a template', async () => {
  const made = initProject({ ...options, folder: path.join(home, 'none'), template: 'with' })
  await assert.rejects(made, { code: 'WP_PROJECT_TEMPLATE' })
})

test('init --help names every part', async () => {
  const parts = await listParts()
  assert.deepEqual(parts, ['docker', 'github', 'gitlab', 'kubernetes', 'systemd'])
  assert.ok(Init.flags.with.description?.endsWith(`: ${parts.join(', ')}`))
})
