// Commands of plugin packages on the built command line. Each hostile file of the package leaves a mark if it runs.
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runCli, startCli } from '../support/cli.ts'
import { writeFiles, type Files } from '../support/project-server.ts'
import { isLong } from '../support/forms.ts'

const command = `import { Args, Command, Flags } from 'waypost/cli'
class Where extends Command {
  static description = 'Show where a place is'
  static enableJsonFlag = true
  static args = { place: Args.string({ required: true }) }
  static flags = { far: Flags.boolean() }
  async run() {
    const { args, flags } = await this.parse(Where)
    if (args.place === 'atlantis') throw new Error('Atlantis cannot be found')
    this.note('looking ...')
    this.print(args.place + (flags.far ? ' is far' : ' is near'))
    return { place: args.place, project: this.project }
  }
}
export const commands = { 'geo:where': Where }
`.replace("import { isWaypost } from 'waypost'\n", '')

const described = {
  id: 'geo:where',
  description: 'Show where a place is',
  examples: ['<%= config.bin %> <%= command.id %> rome'],
  args: { place: { name: 'place', required: true } },
  flags: { far: { name: 'far', type: 'boolean' }, json: { name: 'json', type: 'boolean' } },
  aliases: ['geo:find'],
}

function pack(name: string, { commands, more = {}, files = {} }: { commands: object; more?: object; files?: Files }) {
  const packageJson = {
    name,
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
    oclif: {
      commands: { strategy: 'explicit', target: './commands.js', identifier: 'commands' },
      topics: { geo: { description: 'Places' } },
      ...more,
    },
  }
  const all: Files = {
    'package.json': JSON.stringify(packageJson),
    'oclif.manifest.json': JSON.stringify({ version: '1.0.0', commands }),
    'index.js': `import { definePlugin } from 'waypost'\nexport default definePlugin({ name: '${name}', requires: '*' })\n`,
    'commands.js': command,
    ...files,
  }
  return Object.fromEntries(Object.entries(all).map(([file, text]) => [`node_modules/${name}/${file}`, text]))
}

const list = (...names: string[]) => ({ 'waypost.yml': `plugins: ${JSON.stringify(names)}\nroutes: {}\n` })

describe('commands of plugins', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-commands-'))
    await writeFiles(folder, {
      ...list('geo', './plugins/x.ts'),
      ...pack('geo', { commands: { 'geo:where': described } }),
    })
  })
  after(() => rm(folder, { recursive: true, force: true }))
  const run = (...words: string[]) => runCli(words, { cwd: folder })

  test('run like built-in ones, with the common flags, output and errors', async () => {
    assert.deepEqual(await run('geo:where', 'rome', '--far'), {
      code: 0,
      stdout: 'rome is far\n',
      stderr: 'looking ...\n',
    })
    const { stdout } = await run('geo:where', 'rome', '--json')
    assert.deepEqual(JSON.parse(stdout), { place: 'rome', project: folder })
    assert.equal((await run('--no-color', 'geo:find', 'rome')).stdout, 'rome is near\n')
    const failed = await run('geo:where', 'atlantis')
    assert.deepEqual([failed.code, failed.stderr.split('\n')[0]], [1, 'Error: Atlantis cannot be found'])
    assert.deepEqual(await run('geo:where', 'rome', '--fax'), {
      code: 2,
      stdout: '',
      stderr: 'Error: Unknown flag "--fax"\n  Did you mean --far? waypost geo:where --help lists the flags.\n',
    })
  })

  test('are in the help, and are suggested', async () => {
    assert.match((await run('--help')).stdout, /^ {2}geo +Places$/m)
    assert.match(
      (await run('geo:where', '--help')).stdout,
      /^Show where a place is\n\nEXAMPLES\n {2}\$ waypost geo:where rome\n/,
    )
    assert.match((await run('geo')).stderr, /geo:where {2}Show where a place is/)
    assert.match((await run('geo:wher')).stderr, /Did you mean waypost geo:where\?/)
    assert.match((await run('geo', 'where')).stderr, /Did you mean waypost geo:where\?/)
  })

  test('are there for a linked package that finds no waypost of its own', async () => {
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'waypost-linked-'))
    try {
      const linked = path.join(folder, 'node_modules/geo')
      await rename(linked, path.join(elsewhere, 'geo'))
      await symlink(path.join(elsewhere, 'geo'), linked)
      // In its own process, because a shared one keeps the code of the plugin.
      const { stdout } = await startCli(['geo:where', 'rome'], { cwd: folder }).ended
      assert.equal(stdout, 'rome is near\n')
      await rm(linked)
      await rename(path.join(elsewhere, 'geo'), linked)
    } finally {
      await rm(elsewhere, { recursive: true, force: true })
    }
  })

  test('are only those of packages in plugins:, in the folder of the project', async () => {
    await mkdir(path.join(folder, 'below'), { recursive: true })
    const { code, stderr } = await runCli(['geo:where', 'rome'], { cwd: path.join(folder, 'below') })
    assert.deepEqual([code, stderr.split('\n')[0]], [2, 'Error: Unknown command "geo:where"'])
    await writeFiles(folder, list())
    assert.equal((await run('geo:where', 'rome')).code, 2)
    await writeFiles(folder, {
      'waypost.yml': 'plugins: !include plugins.yml\n',
      'plugins.yml': '- { name: geo, host: true }\n',
    })
    assert.equal((await run('geo:where', 'rome')).code, 0)
    await writeFiles(folder, { 'waypost.yml': 'plugins: [geo\n' })
    assert.equal((await run('geo:where', 'rome')).code, 2)
    assert.equal((await run('--help')).code, 0)
    await writeFiles(folder, list('geo'))
  })

  test('cannot replace a built-in command, or use its topic', async () => {
    const commands = {
      serve: { ...described, id: 'serve', aliases: [] },
      'user:hack': { ...described, aliases: [] },
      'geo:where': { ...described, aliases: ['routes', 'event:now', 'geo:find'] },
      '../x': described,
    }
    const topics = { topics: { user: { description: 'Hacked' } } }
    await writeFiles(folder, { ...list('other'), ...pack('other', { commands, more: topics }) })
    assert.match((await run('routes')).stdout + (await run('routes')).stderr, /No routes|METHOD/i)
    assert.match((await run('user')).stderr, /Users and their scopes/)
    assert.match((await run('--help')).stdout, /Users and their scopes/)
    assert.equal((await run('user:hack', 'rome')).code, 2)
    assert.equal((await run('geo:find', 'rome')).code, 0)
    const { stderr, stdout } = await run('plugin:list')
    assert.match(stdout, /commands geo:where$/m)
    for (const name of ['serve', 'user:hack', 'routes', 'event:now', '../x'])
      assert.ok(stderr.includes(`Warning: other: The command "${name}" is ignored`), `${name}\n${stderr}`)
  })

  test('that two plugins provide are refused with both names; the others work', async () => {
    const both = { ...described, id: 'geo:both', aliases: ['geo:where'] }
    await writeFiles(folder, {
      ...list('geo', 'second'),
      ...pack('geo', { commands: { 'geo:where': described, 'geo:both': { ...both, aliases: [] } } }),
      ...pack('second', { commands: { 'geo:both': both } }),
    })
    for (const name of ['geo:where', 'geo:both']) {
      const { code, stderr } = await run(name, 'rome')
      assert.deepEqual(
        [code, stderr.split('\n')[0]],
        [1, `Error: Two plugins provide the command "${name}": geo and second`],
      )
    }
    assert.equal((await run('geo:find', 'rome')).code, 0)
    assert.doesNotMatch((await run('geo')).stderr, /geo:both/)
  })

  test('of an outdated or damaged manifest are ignored, which plugin:list reports', async () => {
    for (const [text, reason] of [
      [
        JSON.stringify({ version: '0.9.0', commands: { 'geo:where': described } }),
        'is of version 0.9.0, the package of 1.0.0',
      ],
      ['{ "version"', 'Cannot read oclif.manifest.json'],
    ] as const) {
      await writeFiles(folder, {
        ...list('geo'),
        ...pack('geo', { commands: {}, files: { 'oclif.manifest.json': text } }),
      })
      assert.equal((await run('geo:where', 'rome')).code, 2)
      assert.ok((await run('plugin:list')).stderr.includes(reason))
    }
  })
})

describe('help runs no code of a hostile plugin', () => {
  let folder: string
  let mark: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-hostile-'))
    mark = path.join(folder, 'ran')
    const attack = `(process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(mark)}, 'x'))`
    const template = `<%= ${attack} %>`
    const split = `<<%= command.id %>%= ${attack} %>`
    const text = `Show <%- ${attack} %> ${template} ${split} <%% ${attack} %>\x1b[2J`
    const module = `${attack}\nexport default () => ${attack}\nexport const commands = {}\n`
    const evil = {
      ...described,
      aliases: [template],
      description: text,
      summary: text,
      usage: [text],
      examples: [text, { description: text, command: text }],
      args: { place: { name: template, description: text, default: text } },
      flags: {
        far: { name: template, type: 'option', description: text, helpGroup: text, options: [text] },
        [template]: { name: 'x' },
      },
      deprecationOptions: { message: text },
      state: 'deprecated',
      hasDynamicHelp: true,
      pluginType: 'jit',
      load: text,
    }
    const more = {
      hooks: {
        init: './attack.js',
        prerun: './attack.js',
        preparse: './attack.js',
        command_not_found: './attack.js',
        postrun: './attack.js',
      },
      plugins: ['*'],
      helpClass: './attack.js',
      theme: './attack.js',
      topics: { geo: { description: text, [template]: 1 }, [template]: { description: text } },
    }
    const files = {
      'index.js': module,
      'commands.js': module,
      'attack.js': module,
      '.oclifrc.js': module,
      'oclif.config.cjs': attack,
      'node_modules/nested/package.json': '{ "name": "nested", "version": "1.0.0", "oclif": { "commands": "./" } }',
      'node_modules/nested/nested.js': module,
    }
    const bare = pack('bare', { commands: { 'bare:x': evil }, files })
    const { oclif: _, ...withoutOclif } = JSON.parse(bare['node_modules/bare/package.json']!) as { oclif: object }
    await writeFiles(folder, {
      ...list('geo', 'bare'),
      ...pack('geo', { commands: { 'geo:where': evil }, more, files }),
      ...bare,
      'node_modules/bare/package.json': JSON.stringify(withoutOclif),
    })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  for (const words of [
    ['--help'],
    ...(isLong ? [[], ['help'], ['--version'], ['help', 'nosuch'], ['help', 'bare:x'], ['geo', 'where']] : []),
    ['nosuch'],
    ['geo'],
    ['geo:where', '--help'],
    ['help', 'geo:where'],
    ['routes'],
  ]) {
    test(`waypost ${words.join(' ')}`, async () => {
      // One process imports a module once, so that the first command that runs code of the plugin leaves the mark.
      const { stdout, stderr } = await runCli(words, { cwd: folder })
      assert.ok(stdout + stderr !== '')
      assert.ok(!(stdout + stderr).includes('\x1b[2J'))
      assert.equal(existsSync(mark), words[0] === 'routes', stdout + stderr) // `routes` builds the project
      rmSync(mark, { force: true })
    })
  }

  test('and a command of another plugin runs none of its hooks', async () => {
    await writeFiles(folder, {
      ...list('geo', 'good'),
      ...pack('good', {
        commands: { 'good:x': { ...described, aliases: [] } },
        files: { 'commands.js': command.replace("'geo:where'", "'good:x'") },
      }),
    })
    const { code, stdout, stderr } = await startCli(['good:x', 'rome'], { cwd: folder }).ended
    assert.deepEqual([code, stdout], [0, 'rome is near\n'], stderr)
    assert.equal(existsSync(mark), false)
  })
})
