import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { findFilesProblem, storeFiles } from '../../src/release/definition-files.ts'
import {
  activateRelease,
  findActiveFileList,
  findBase,
  findPathProblem,
  findPrevious,
  hashFileList,
  hashFiles,
  listActivations,
  loadFiles,
  pruneReleases,
  rollBack,
  type DefinitionFile,
} from '../../src/release/index.ts'
import { inOneTransaction, startFeed, type System } from '../../src/store/index.ts'
import { makeTestClock } from '../support/clock.ts'
import { describeSystems } from '../support/project-server.ts'
import { makeRelease, openFreshSystem } from './system.ts'
import { chooseKinds } from '../support/forms.ts'

const files = (yml: string, schema = '{}'): readonly DefinitionFile[] => [
  { path: 'waypost.yml', content: yml },
  { path: 'resources/schema.json', content: schema },
]

describeSystems('the definition files of an activation', chooseKinds('sqlite'), ({ newSystem }) => {
  let system: System & AsyncDisposable
  beforeEach(async () => {
    system = await openFreshSystem(await newSystem())
  })
  afterEach(() => system[Symbol.asyncDispose]())

  const deploy = (name: string, kept: readonly DefinitionFile[] | undefined, commit?: string) =>
    activateRelease(system, makeRelease(name), { by: 'ann', files: kept, commit })
  const activations = () => system.db.selectFrom('waypost_activation').selectAll().orderBy('number').execute()
  const stored = async () => (await system.db.selectFrom('waypost_file').select('hash').execute()).length
  const filesOf = async (id: string) => {
    const [last] = await listActivations(system, id, 1)
    return last?.files === undefined ? undefined : loadFiles(system, last.files)
  }

  test('are stored once, however many activations have them', async () => {
    for (let count = 0; count < 5; count++) {
      await deploy('one', files('a: 1'))
      await deploy('two', files('a: 1'))
    }
    assert.equal((await activations()).length, 10)
    assert.equal(await stored(), 3, 'two files and their list')
    const { id } = await deploy('one', files('a: 2'), 'c'.repeat(40))
    assert.equal(await stored(), 5, 'the other file and the other list')
    assert.deepEqual(
      await filesOf(id),
      files('a: 2').toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    )
    const last = (await activations()).at(-1)!
    assert.deepEqual([last.git_commit, last.from_git, last.kind], ['c'.repeat(40), last.number, 'deploy'])
  })

  test('that alone differ are recorded, notify no server, and do not change where a rollback leads', async () => {
    const base = await deploy('base', files('a: 0'))
    const first = await deploy('one', files('a: 1'))
    const feed = await startFeed(system, { clock: makeTestClock() })
    const subjects: string[] = []
    feed.listen((news) => news !== 'reset' && subjects.push(...news.map(({ subject }) => subject)))
    const second = await deploy('one', files('# A comment\na: 1'))
    assert.deepEqual(second, { id: first.id, activated: false, recorded: true })
    assert.deepEqual(await deploy('one', files('# A comment\na: 1')), { ...second, recorded: false })
    assert.deepEqual(await deploy('one', undefined), { ...second, recorded: false })
    await feed.catchUp()
    await feed.close()
    assert.deepEqual(subjects, [])
    assert.equal((await activations()).length, 3)
    assert.equal(await findActiveFileList(system), hashFileList(hashFiles(files('# A comment\na: 1'))))
    assert.equal(await findPrevious(system), base.id)
  })

  test('of a rollback are those of its target, with its commit', async () => {
    const { id } = await deploy('one', files('a: 1'), 'a'.repeat(40))
    await deploy('two', files('a: 2'), 'b'.repeat(40))
    assert.deepEqual(await rollBack(system, id, { by: 'bob' }), { id, activated: true })
    const [one, , back] = await activations()
    assert.deepEqual([back!.kind, back!.files, back!.git_commit], ['rollback', one!.files, 'a'.repeat(40)])
    assert.equal(back!.from_git, one!.number)
  })

  test('that a server published are not in Git; a deployment of the same files is recorded and puts them there', async () => {
    const publish = (name: string, kept: readonly DefinitionFile[], after?: number) =>
      activateRelease(system, makeRelease(name), { kind: 'backend', by: 'ann', files: kept, after })
    await deploy('one', files('a: 1'), 'a'.repeat(40))
    await publish('two', files('a: 2'), 1)
    await publish('two', files('# A comment\na: 2'), 2)
    assert.equal((await publish('two', files('# A comment\na: 2'), 3)).recorded, false)
    assert.equal((await deploy('two', files('# A comment\na: 2'), 'b'.repeat(40))).recorded, true)
    const rows = (await activations()).map((row) => [row.kind, row.git_commit?.[0] ?? null, row.from_git])
    const expected = [
      ['deploy', 'a', 1],
      ['backend', null, 1],
      ['backend', null, 1],
      ['deploy', 'b', 4],
    ]
    assert.deepEqual(rows, expected)
  })

  test('are published on an empty System: none is in Git', async () => {
    await activateRelease(system, makeRelease('one'), { kind: 'backend', by: 'ann', files: files('a: 1'), after: 0 })
    assert.deepEqual(
      (await activations()).map(({ kind, from_git: from }) => [kind, from]),
      [['backend', null]],
    )
  })

  test('are not published over an activation that followed, also of the same release', async () => {
    await deploy('one', files('a: 1'))
    await deploy('one', files('# A comment\na: 1'))
    const late = activateRelease(system, makeRelease('two'), { kind: 'backend', by: 'bob', files: [], after: 1 })
    await assert.rejects(late, { code: 'WP_RELEASE_ACTIVATED_SINCE', message: /^ann has activated the release / })
    assert.equal((await activations()).length, 2)
  })

  test('are activated in one transaction with what else the caller changes', async () => {
    await deploy('one', files('a: 1'))
    const change = (joined: System) =>
      joined.db.updateTable('waypost_release').set({ message: 'Changed' }).where('message', 'is', null).execute()
    const publish = (isBroken: boolean) =>
      inOneTransaction(system, async (joined) => {
        await activateRelease(joined, makeRelease('two'), { kind: 'backend', by: 'ann', files: files('a: 2') })
        await change(joined)
        if (isBroken) throw new Error('broken on purpose')
      })
    const messages = async () => (await system.db.selectFrom('waypost_release').select('message').execute()).length
    await assert.rejects(publish(true), /broken on purpose/)
    assert.deepEqual([(await activations()).length, await messages()], [1, 1])
    await publish(false)
    assert.deepEqual([(await activations()).length, await messages()], [2, 2])
    const { rows } = await sql<{ subject: string }>`select subject from waypost_feed`.execute(system.db)
    assert.equal(rows.length, 2)
  })

  test('are stored with the activation or not at all', async () => {
    await deploy('one', files('a: 1'))
    const rejected = activateRelease(system, makeRelease('two'), { by: 'ann', against: 'ffff', files: files('a: 2') })
    await assert.rejects(rejected, { code: 'WP_RELEASE_SUPERSEDED' })
    assert.equal(await stored(), 3)
    const names = ['a', 'b', 'c', 'd']
    const outcomes = await Promise.all(names.map((name) => deploy('same', files(`a: ${name}`))))
    assert.equal(outcomes.filter(({ activated }) => activated).length, 1)
    assert.equal(outcomes.filter(({ recorded }) => recorded).length, 4)
    const rows = (await activations()).slice(1)
    const contents = await Promise.all(rows.map(({ files: list }) => loadFiles(system, list!)))
    assert.deepEqual(
      contents.map((kept) => kept.find(({ path }) => path === 'waypost.yml')!.content).toSorted(),
      names.map((name) => `a: ${name}`),
    )
  })

  test('that are damaged are named, and repaired by deploying them again', async () => {
    const { id } = await deploy('one', files('a: 1'))
    await system.db.updateTable('waypost_file').set({ content: 'b' }).where('content', '=', 'a: 1').execute()
    await assert.rejects(filesOf(id), { code: 'WP_RELEASE_FILES' })
    assert.equal((await deploy('one', files('a: 1'))).recorded, false)
    assert.equal((await filesOf(id))?.length, 2)
  })

  test('are pruned with the last activation that has them', async () => {
    for (const name of ['one', 'two', 'three']) await deploy(name, files(`a: ${name}`))
    for (const comment of ['x', 'y', 'z']) await deploy('three', files(`# ${comment}`))
    assert.equal(await stored(), 1 + 2 * 6)
    await pruneReleases(system, { keepNewest: 0, keepMs: -1000 })
    // The active release and the previous one, each with its last files.
    assert.equal(await stored(), 1 + 2 * 2)
    const kept = await activations()
    assert.deepEqual(
      kept.map(({ number }) => number),
      [2, 6],
    )
    for (const { files: list } of kept) assert.equal((await loadFiles(system, list!)).length, 2)
  })

  test('that the draft has or is based on are kept with the activation of its base', async () => {
    for (const name of ['one', 'two', 'three', 'four']) await deploy(name, files(`a: ${name}`))
    const [base] = await activations()
    const draft = await system.transaction((trx) => storeFiles(system, trx, files('a: draft')))
    await system.transaction((trx) => storeFiles(system, trx, files('a: earlier draft')))
    const row = { id: 1, base: base!.number, base_files: base!.files, files: draft, changed_at: system.now() }
    await system.db.insertInto('waypost_draft').values(row).execute()
    await pruneReleases(system, { keepNewest: 0, keepMs: -1000 })
    assert.deepEqual(
      (await activations()).map(({ number }) => number),
      [1, 3, 4],
    )
    for (const list of [draft, base!.files!]) assert.equal((await loadFiles(system, list)).length, 2)
    assert.equal(await stored(), 1 + 2 * 4)
    await system.db.deleteFrom('waypost_draft').execute()
    await pruneReleases(system, { keepNewest: 0, keepMs: -1000 })
    assert.equal(await stored(), 1 + 2 * 2)
  })

  test('that an activation is based on are kept with their activation', async () => {
    const { id } = await deploy('one', files('a: 1'))
    await deploy('two', files('a: 2'))
    await rollBack(system, id, { by: 'ann' })
    await rollBack(system, id, { by: 'ann' })
    await pruneReleases(system, { keepNewest: 0, keepMs: -1000 })
    assert.deepEqual(
      (await activations()).map(({ number, from_git: from }) => [number, from]),
      [
        [1, 1],
        [3, 1],
      ],
    )
  })
})

describe('a path of a definition file', () => {
  const long = `resources/${'a'.repeat(300)}.yml`
  for (const path of ['waypost.yml', 'resources/a b/ä.yaml', 'migrations/System/1.yml', 'schemas/todo.json'])
    test(`can be ${path}`, () => assert.equal(findPathProblem(path), undefined))
  for (const path of [
    '.env',
    'resources/.env',
    'resources/../../x.yml',
    './waypost.yml',
    '/etc/x.yml',
    'resources//x.yml',
    'a\\b.yml',
    'C:/x.yml',
    '.git/config.json',
    'package.json',
    'resources/Package.json',
    'tsconfig.build.json',
    'package-lock.json',
    'src/a.ts',
    'a.yml/',
    'node_modules/a/b.json',
    'resources/logo.png',
    'a\u0000.yml',
    'a\n.yml',
    'a\u202e.yml',
    'a\ud800.yml',
    '',
    '..',
    long,
  ])
    // prettier-ignore
    test(`cannot be ${JSON.stringify(path.slice(0, 40))}`, () => assert.notEqual(findPathProblem(path), undefined))
})

describe('definition files', () => {
  const make = (...paths: readonly string[]) => paths.map((path) => ({ path, bytes: 10 }))
  const mb = 1024 * 1024
  const many = make(...Array.from({ length: 2001 }, (_, index) => `resources/${index}.yml`))
  for (const [what, list, problem] of [
    ['are refused if two differ in case only', make('resources/a.yml', 'Resources/A.yml'), /upper and lower case/],
    ['are refused if two are the same for a file system', make('\u00e4.yml', 'a\u0308.yml'), /upper and lower case/],
    ['are refused if one is the folder of another', make('a.yml', 'A.yml/b.yml'), /folder/],
    ['are refused if there are too many', many, /more than 2000 files/],
    ['are refused if one is too large', [{ path: 'a.yml', bytes: mb + 1 }], /larger than 1 MB/],
    ['are refused if all are too large', many.slice(0, 9).map(({ path }) => ({ path, bytes: mb })), /8 MB/],
  ] as const)
    test(what, () => assert.match(findFilesProblem(list)?.problem ?? '', problem))
  test('are accepted up to the limits', () => {
    assert.equal(findFilesProblem(many.slice(1)), undefined)
    assert.equal(findFilesProblem(many.slice(0, 8).map(({ path }) => ({ path, bytes: mb }))), undefined)
  })
})

describe('the base of a pull', () => {
  const make = (a: string, b: string, c = 'c') => new Map(Object.entries({ 'a.yml': a, 'b.yml': b, 'c.yml': c }))
  const hashesOf = (texts: ReadonlyMap<string, string>) =>
    hashFiles([...texts].map(([path, content]) => ({ path, content })))
  const [first, second, third] = [make('a1', 'b1'), make('a2', 'b1'), make('a3', 'b1')]
  const versions = [third, second, first].map(hashesOf)

  test('is the version that the folder has unchanged', () => {
    const mine = new Map([...second, ['own.yml', 'mine']])
    assert.deepEqual(findBase(mine, { versions, inGit: first, theirs: third }), second)
  })
  test('has the newer versions of unchanged files', () => {
    const base = findBase(make('a2', 'mine'), { versions, inGit: first, theirs: third })
    assert.deepEqual(base, make('a2', 'b1'))
  })
  test('is what was deployed from Git for files that have changed, and for older versions', () => {
    assert.deepEqual(findBase(make('mine', 'mine'), { versions, inGit: first, theirs: third }), first)
    assert.deepEqual(findBase(make('a1', 'mine'), { versions, inGit: second, theirs: third }), second)
  })
  test('is the nearest version if nothing was deployed from Git', () => {
    const base = findBase(make('a2', 'mine'), { versions, inGit: undefined, theirs: third })
    assert.deepEqual(base, second)
  })
  test('is unknown if the text of a changed file is not at hand, or nothing is unchanged', () => {
    const changed = make('mine', 'b1')
    assert.equal(findBase(changed, { versions, inGit: undefined, theirs: third }), undefined)
    assert.equal(findBase(make('x', 'y', 'z'), { versions, inGit: undefined, theirs: third }), undefined)
    assert.equal(findBase(make('x', 'y', 'z'), { versions: [], inGit: undefined, theirs: third }), undefined)
  })
})
