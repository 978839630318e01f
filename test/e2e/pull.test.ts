// A definition that was changed on the server comes back into a folder.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { addClient, addUser } from '../../src/auth/index.ts'
import { storeFiles } from '../../src/release/index.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'
import { longTest } from '../support/forms.ts'

describe('waypost pull', { concurrency: 1 }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let system: NewSystem
  /** The folder that is deployed, and one in which the definition is changed as on the server. */
  let project: TestProject
  let server: TestProject
  before(async () => {
    system = await makeSystem('postgresql')
    closers.push(system.close)
    project = await makeProject(system.variables)
    closers.push(project.remove)
    server = await makeProject(system.variables)
    closers.push(server.remove)
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  const deploy = async ({ run }: TestProject, flags = ''): Promise<string> => {
    const { code, stdout, stderr } = await run(`deploy --migrate --yes --json${flags}`)
    assert.equal(code, 0, stdout + stderr)
    return JSON.parse(stdout).release as string
  }
  /** Activates the files of the other folder, as the backend does: they are not in Git. */
  const publish = async (): Promise<string> => {
    const { db } = system.host.system
    const { in_git: inGit } = await db
      .selectFrom('waypost_activation')
      .select((column) => column.fn.max('from_git').as('in_git'))
      .executeTakeFirstOrThrow()
    const id = await deploy(server, ' --overwrite-backend')
    await db
      .updateTable('waypost_activation')
      .set({ kind: 'backend', from_git: Number(inGit) })
      .where('release_id', '=', id)
      .execute()
    return id
  }
  const newFolder = async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-pull-'))
    closers.push(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  it('says that there is nothing before the first deployment', async () => {
    const { code, stderr } = await project.run('pull')
    assert.equal(code, 1)
    assert.match(stderr, /Nothing has been deployed to .* yet/)
  })

  it('changes nothing after a deployment from the same folder', async () => {
    await deploy(project)
    const text = await project.ok('pull')
    assert.equal(text, '  Nothing to pull: the folder contains all changes from the server.\n')
  })

  it('writes what was changed on the server, and the next deployment is the same release', async () => {
    await server.edit('resources/routes/todo/collection.yml', 'Lists the open to-dos, newest first', 'Lists all')
    await server.edit('waypost.yml', '\nevent:', '\n# A comment from the server\nevent:')
    const id = await publish()
    const refused = await project.run('deploy --yes')
    assert.equal(refused.code, 1, refused.stdout)
    assert.match(
      refused.stderr,
      /undone +\/routes\/~1todo\/methods\/GET\/description\s+changed in the backend: resources/,
    )
    assert.match(refused.stderr, /would undo 1 change made in the backend; nothing was changed\n.*Run waypost pull/s)
    const { overwritten } = JSON.parse(await project.ok('deploy --plan --json'))
    assert.deepEqual(
      overwritten.map(({ at, file, conflict }: Record<string, unknown>) => [at, file, conflict]),
      [['/routes/~1todo/methods/GET/description', 'resources/routes/todo/collection.yml', false]],
    )
    const { code, stdout, stderr } = await project.run('pull --yes')
    assert.equal(code, 0, stderr)
    assertCalm(stdout + stderr)
    assert.match(
      stderr,
      /Source {5}.* release [0-9a-f]{8}\n {2}~ resources\/routes\/todo\/collection\.yml\n {2}~ waypost\.yml\n/,
    )
    assert.equal(stdout, '  Wrote      2 files\n')
    assert.match(await readFile(path.join(project.folder, 'waypost.yml'), 'utf8'), /# A comment from the server/)
    assert.match(await project.ok('pull'), /Nothing to pull/)
    assert.match(await project.ok('deploy --plan'), /published in the backend and now in the project: recorded/)
    assert.equal(await deploy(project), id)
    assert.match(await project.ok('deploy --yes'), /is already active\. Nothing to do/)
  })

  it('keeps changes of the folder; what both changed is a conflict until a side is chosen', async () => {
    await server.edit('resources/routes/todo/collection.yml', 'Lists all', 'Lists all of them')
    await server.edit('resources/schema.yml', 'maxLength: 64', 'maxLength: 300')
    await project.edit('resources/routes/todo/collection.yml', 'Lists all', 'Lists everything')
    await project.edit('waypost.yml', '# A comment from the server', '# My comment')
    await publish()
    const { code, stdout } = await project.run('pull --yes')
    assert.equal(code, 1)
    assert.match(
      stdout,
      /Conflict {3}resources\/routes\/todo\/collection\.yml:\d+ {3}\/routes\/~1todo\/methods\/GET\/description\n/,
    )
    assert.match(stdout, /The folder keeps its own version\. To resolve it,\s+run waypost pull --theirs or --mine/)
    const texts = async () =>
      Promise.all(
        ['resources/routes/todo/collection.yml', 'resources/schema.yml', 'waypost.yml'].map((file) =>
          readFile(path.join(project.folder, file), 'utf8'),
        ),
      )
    const [route, schema, root] = await texts()
    assert.match(route!, /Lists everything/)
    assert.match(schema!, /maxLength: 300/)
    assert.match(root!, /# My comment/)
    assert.equal((await project.run('pull --mine')).code, 0)
    assert.deepEqual(await texts(), [route, schema, root])
    assert.equal((await project.run('pull --theirs --yes')).code, 0)
    assert.match((await texts())[0]!, /Lists all of them/)
    await project.edit('resources/routes/todo/collection.yml', 'Lists all of them', 'Lists mine')
    const refused = await project.run('deploy --yes')
    assert.match(
      refused.stderr,
      /would undo 1 change made in the backend; nothing was changed\n.*The project has other values for the same places/s,
    )
    assert.match(refused.stderr, /waypost pull --theirs/)
    assert.doesNotMatch(refused.stderr, /Run waypost pull/)
    await project.ok('deploy --yes --overwrite-backend')
    assert.match(await project.ok('pull'), /Nothing to pull/)
  })

  // In CI, the test above pulls into a changed folder, and definition/merge-definitions.test.ts merges.
  longTest('pulls again into a folder that was changed after an earlier pull, without conflicts', async () => {
    const file = 'resources/routes/todo/collection.yml'
    await writeFile(path.join(server.folder, file), await project.read(file))
    await server.edit('resources/schema.yml', 'maxLength: 300', 'maxLength: 310')
    await publish()
    await project.ok('pull --yes')
    await project.edit(file, 'Lists mine', 'Lists mine, newest first')
    await server.edit('resources/schema.yml', 'maxLength: 310', 'maxLength: 320')
    await publish()
    assert.equal(await project.ok('pull --yes'), '  Wrote      1 file\n')
    assert.match(await project.read('resources/schema.yml'), /maxLength: 320/)
    assert.match(await project.read(file), /Lists mine, newest first/)
    await project.edit(file, 'Lists mine, newest first', 'Lists mine')
  })

  it('makes a project of an empty folder, and names the code that a release does not contain', async () => {
    const folder = await newFolder()
    const { code, stdout, stderr } = await server.run(`pull ${folder} --json`)
    assert.equal(code, 0, stderr)
    const { missing_code: missing, created, files } = JSON.parse(stdout)
    assert.equal(created, true)
    assert.ok(missing.includes('src/todo/collection.ts'), missing.join())
    for (const file of ['package.json', 'tsconfig.json', '.gitignore'])
      assert.notEqual(await readFile(path.join(folder, file), 'utf8'), '')
    for (const { file } of files as { file: string }[])
      assert.equal(
        await readFile(path.join(folder, file), 'utf8'),
        await readFile(path.join(project.folder, file), 'utf8'),
      )
    const again = await server.run(`pull ${folder}`)
    assert.match(again.stdout, /Nothing to pull|Missing code/)
  })

  it('refuses a file in place of a folder', async () => {
    for (const folder of ['waypost.yml', 'waypost.yml/new']) {
      const { code, stderr } = await project.run(`pull ${folder}`)
      assert.equal(code, 1)
      assert.match(stderr, /waypost\.yml is a file/)
    }
  })

  it('writes nothing into a folder with files of a definition, but without a waypost.yml', async () => {
    const taken = await newFolder()
    await mkdir(path.join(taken, 'resources'))
    await writeFile(path.join(taken, 'resources/schema.yml'), 'mine')
    const refused = await server.run(`pull ${taken}`)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /has no waypost\.yml, but already contains resources\/schema\.yml/)
    assert.deepEqual(await readdir(taken), ['resources'])
    const blocked = await newFolder()
    await writeFile(path.join(blocked, 'resources'), 'a file')
    const failed = await server.run(`pull ${blocked}`)
    assert.equal(failed.code, 1, failed.stdout)
    assert.deepEqual(await readdir(blocked), ['resources'])
  })

  it('makes a project of a release that has tables only', async () => {
    const { db } = system.host.system
    const { number, files } = await db
      .selectFrom('waypost_activation')
      .select(['number', 'files'])
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    const migration = [
      { path: 'migrations/System/1.yml', content: 'create_table: { app_a: { columns: { id: id } } }\n' },
    ]
    const list = await system.host.system.transaction((trx) => storeFiles(system.host.system, trx, migration))
    const activation = db.updateTable('waypost_activation').where('number', '=', number)
    await activation.set({ files: list }).execute()
    const folder = await newFolder()
    await server.ok(`pull ${folder}`)
    assert.equal(await readFile(path.join(folder, 'waypost.yml'), 'utf8'), 'routes: {}\n')
    assert.equal(await readFile(path.join(folder, migration[0]!.path), 'utf8'), migration[0]!.content)
    await activation.set({ files }).execute()
  })

  describe('from a running server', () => {
    let serving: Serving
    before(async () => {
      serving = await startServe(system.folder)
      closers.push(() => serving.stop())
    })
    it('needs a client that may read definitions', async () => {
      const { system: store } = system.host
      await addUser(store, { name: 'ci', scopes: ['backend.read', 'todo'] })
      const makeClient = async (scope: string) => {
        const options = { name: scope, user: 'ci', scopes: [scope], redirectUris: [], public: false }
        const { id, secret = '' } = await addClient(store, { ...options, grants: ['client_credentials'] })
        return { env: { WAYPOST_CLIENT_ID: id, WAYPOST_CLIENT_SECRET: secret } }
      }
      const url = `--url http://127.0.0.1:${serving.port}`
      const folder = await newFolder()
      const refused = await project.run(`pull ${folder} ${url}`, await makeClient('todo'))
      assert.equal(refused.code, 1, refused.stdout)
      const { code, stderr } = await project.run(`pull ${folder} ${url}`, await makeClient('backend.read'))
      assert.equal(code, 0, stderr)
      assert.equal(
        await readFile(path.join(folder, 'waypost.yml'), 'utf8'),
        await readFile(path.join(project.folder, 'waypost.yml'), 'utf8'),
      )
    })
  })
})
