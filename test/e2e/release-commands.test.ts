// An operator looks at releases, goes back and prunes, beside a server that runs.
import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { makeProject, type TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'

interface ListedJson {
  readonly releases: readonly { release: string; active: boolean; kind: string; by: string; message: string | null }[]
  readonly servers: readonly { release: string; state: string; error: string | null; heartbeat_age_ms: number }[]
}

describe('releases at the command line', { concurrency: 1 }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let system: NewSystem
  let project: TestProject
  let serving: Serving
  const ids: string[] = []

  before(async () => {
    system = await makeSystem('postgresql')
    closers.push(system.close)
    serving = await startServe(system.folder)
    closers.push(() => serving.stop())
    project = await makeProject(system.variables)
    closers.push(project.remove)
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  const pageSize = async () => (await send(serving.port, { path: '/todo' })).body?.itemsPerPage as number | undefined
  const deploy = async (words: string) => {
    const { code, stdout, stderr } = await project.run(`deploy --yes --json ${words}`)
    assert.equal(code, 0, stdout + stderr)
    ids.push((JSON.parse(stdout) as { release: string }).release)
  }
  const list = async () => JSON.parse(await system.folder.ok('release:list --json')) as ListedJson

  it('shows the next step if there is no release', async () => {
    const { code, stdout, stderr } = await system.folder.run('release:list')
    assert.deepEqual([code, stdout.includes('SERVER')], [0, true])
    assert.match(stderr, /No releases\. Deploy one: waypost deploy/)
    const refused = await system.folder.run('release:rollback --yes')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /There is no previous release to roll back to: none is active/)
  })

  it('lists releases, newest first, with the state of the server', async () => {
    await deploy('--migrate --message First')
    await project.edit('src/todo/collection.ts', 'const itemsPerPage = 16', 'const itemsPerPage = 7')
    await deploy('--message Smaller')
    assert.equal(await pageSize(), 7)
    const { releases, servers } = await list()
    assert.deepEqual(
      releases.map(({ release, active, kind, message }) => [release, active, kind, message]),
      [
        [ids[1], true, 'deploy', 'Smaller'],
        [ids[0], false, 'deploy', 'First'],
      ],
    )
    assert.deepEqual([servers.length, servers[0]?.release, servers[0]?.state], [1, ids[1], 'serving'])
    const text = await system.folder.ok('release:list')
    assert.match(text, new RegExp(`^RELEASE .*\n${ids[1]!.slice(0, 8)}  active  .* Smaller\n`))
    assert.ok(text.split('\n').every((line) => line.length <= 80))
  })

  it('shows a release by the beginning of its id, and the differences between two', async () => {
    const [one, two] = ids as [string, string]
    const text = await system.folder.ok(`release:show ${one.slice(0, 9)}`)
    assertCalm(text)
    assert.match(text, new RegExp(`^ {2}Release {6}${one}\n`))
    for (const part of [/Route +POST +\/todo +scope todo/, /Migrations +System\/20261120-create-app-todo/, /KB\n$/]) {
      assert.match(text, part)
    }
    const shown = JSON.parse(await system.folder.ok(`release:show ${two} --json`)) as {
      routes: unknown[]
      message: string
    }
    assert.deepEqual([shown.routes.length, shown.message], [5, 'Smaller'])
    const difference = await system.folder.ok(`release:diff ${one.slice(0, 8)}`)
    assert.match(difference, /^ {2}~ route +GET +\/todo +code of src\/todo\/collection\.ts\n$/)
    assert.equal(difference, await system.folder.ok(`release:diff ${one} ${two}`))
    const unknown = await system.folder.run('release:show ffffffff0')
    assert.deepEqual([unknown.code, /Unknown release "ffffffff0"/.test(unknown.stderr)], [1, true])
  })

  it('rolls back after confirmation, waits for the server, and then has no release left to roll back to', async () => {
    const refused = await system.folder.run('release:rollback')
    assert.deepEqual([refused.code, await pageSize()], [1, 7])
    assert.match(refused.stderr, /--yes/)

    const { code, stdout, stderr } = await system.folder.run(['release:rollback', '--yes', '-m', 'Too small'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^ {2}Target +postgresql:.* {3}1 server, waypost /)
    assert.match(stdout, new RegExp(`^ {2}Activated {2}${ids[0]!.slice(0, 8)}\n {2}Serving {4}\\S+ \\d+\\.\\d s\n$`))
    assert.equal(await pageSize(), 16)
    const [first] = (await list()).releases
    assert.deepEqual([first?.release, first?.kind, first?.message], [ids[0], 'rollback', 'Too small'])
    const again = await system.folder.run('release:rollback --yes')
    assert.deepEqual([again.code, /none was active before/.test(again.stderr)], [1, true])
  })

  it('keeps what a rollback undoes as the draft', async () => {
    await project.edit('resources/routes/todo/collection.yml', 'Lists the open to-dos', 'Lists to-dos')
    await deploy('--message Shorter')
    const { code, stdout, stderr } = await system.folder.run('release:rollback --yes --keep-draft')
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      new RegExp(
        `^ {2}Activated {2}${ids[0]!.slice(0, 8)}\n {2}Kept {7}the undone changes are in the draft of the backend\n {2}Serving`,
      ),
    )
    const { db } = system.host.system
    const change = db.selectFrom('waypost_draft_change').select(['name', 'user_id', 'user_name'])
    assert.deepEqual(await change.execute(), [
      { name: '/routes/~1todo/methods/GET', user_id: null, user_name: userInfo().username },
    ])
    assert.match(await system.folder.ok('pull copy --draft'), /Wrote/)
    assert.match(await system.folder.read('copy/resources/routes/todo/collection.yml'), /Lists to-dos/)
    const again = await system.folder.run(`release:rollback ${ids.at(-1)} --yes --keep-draft`)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /The draft has changes, so it cannot keep the undone changes/)
  })

  it('fails if a server fails to start the release, names it and the cause, and a rollback fixes it', async () => {
    const text = await project.read('waypost.yml')
    await project.write(
      'waypost.yml',
      `${text}connection: { Notes: { class: sqlite, config: { file: '\${env.NOTES}' } } }\n`,
    )
    const refused = await project.run('deploy --yes')
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(
      refused.stderr,
      /needs variables that are not set: NOTES \(on \S+\)\n.*waypost env:set.*--allow-missing/,
    )
    const { code, stdout, stderr } = await project.run('deploy --yes --allow-missing')
    assert.equal(code, 1)
    assert.match(stdout, /failed: The release \w+ requires variables that are not set: NOTES/, stderr)
    assert.match(stdout, new RegExp(`0 of 1 server serves \\w{8}; \\S+ still serves ${ids[0]!.slice(0, 8)}`))
    const [, command] = /Set NOTES on .*To\s+roll\s+back:\s+waypost (release:rollback \w+)/s.exec(stdout) ?? []
    const listed = await system.folder.ok('release:list')
    assert.match(listed, /failed +\S+ does not serve \w{8}: The release \w{8} requires variables/)
    assert.equal(await pageSize(), 16)
    const back = JSON.parse(await system.folder.ok(`${command} --yes --json`)) as {
      release: string
      activated: boolean
      servers: readonly { state: string; error: string | null }[]
    }
    assert.deepEqual([back.release, back.activated], [ids[0], true])
    assert.deepEqual(
      back.servers.map(({ state, error }) => [state, error]),
      [['serving', null]],
    )
    assert.equal((await list()).servers[0]?.error, null)
  })

  it('prunes old releases after confirmation', async () => {
    const dry = await system.folder.run('release:prune --keep 0 --dry-run')
    assert.match(dry.stdout, /^ {2}To prune {3}3 releases, \d+ artifacts?; 1 release kept\n$/)
    const { code, stdout, stderr } = await system.folder.run('release:prune --keep 0 --yes')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^ {2}Pruned {5}3 releases, \d+ artifacts?\n$/)
    assert.deepEqual(
      (await list()).releases.map(({ release }) => release),
      [ids[0]],
    )
    assert.equal(await system.folder.ok('release:prune'), '  Nothing to prune: 1 release kept.\n')
  })
})
