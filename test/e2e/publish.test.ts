// A definition that is built on a server becomes a project, and a project that is changed on a server stays one.
import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { addClient, addUser } from '../../src/auth/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { makeProject, openProject, type TestProject } from '../support/project.ts'
import { send, type Answer } from '../support/send.ts'
import { asCommand, bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { startServe } from './serving.ts'
import { chooseKinds } from '../support/forms.ts'

const scopes = ['backend.read', 'backend.write', 'backend.deploy']

for (const kind of chooseKinds('sqlite')) {
  describe(`a definition that is published on a server, ${kind}`, { concurrency: 1 }, () => {
    const closers: (() => Promise<unknown>)[] = []
    after(async () => {
      for (const close of closers.toReversed()) await close()
    })

    const newSystem = async (): Promise<NewSystem> => {
      const system = await makeSystem(kind)
      closers.push(system.close)
      const { WAYPOST_SYSTEM_URL: url = '' } = system.variables
      const own = url.startsWith('sqlite:') ? `sqlite:${path.join(system.folder.folder, 'system.db')}` : url
      return { ...system, variables: { ...system.variables, WAYPOST_SYSTEM_URL: own } }
    }
    const newFolder = async (variables: NewSystem['variables']): Promise<TestProject> => {
      const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-publish-')))
      const remove = () => rm(folder, { recursive: true, force: true })
      closers.push(remove)
      return openProject(folder, variables, remove)
    }
    /** Starts `serve`, and calls its admin API as an administrator. */
    const startServer = async ({ folder, host }: NewSystem) => {
      const server = await startServe(folder)
      closers.push(() => server.stop())
      await addUser(host.system, { name: 'ann', scopes })
      const { access_token: token } = await issueHostToken(asCommand(host), { user: 'ann', scopes, expires: undefined })
      const call = async (line: string, body?: unknown) => {
        const [method = '', target = ''] = line.split(' ')
        const answer = await send(server.port, { method, path: `/backend${target}`, headers: bearer(token), body })
        assert.ok(answer.status < 300, `${line}: ${answer.text}`)
        return answer.body
      }
      const publish = async (request: object = {}): Promise<string> => {
        const { active: against } = await call('POST /draft/plan', {})
        const { id } = await call('POST /draft/publish', { against, accept_access: true, ...request })
        let found: Answer['body']
        await until('it is published', async () => {
          found = await call(`GET /publish/${id}`)
          return found.state === 'activated' || found.state === 'failed'
        })
        assert.equal(found.state, 'activated', JSON.stringify(found.error))
        return found.release as string
      }
      return { port: server.port, call, publish }
    }
    const deploy = async (project: TestProject): Promise<string> =>
      JSON.parse(await project.ok('deploy --migrate --yes --json')).release

    it('is pulled into an empty folder, and deployed to another System as the same release', async () => {
      const system = await newSystem()
      const { port, call, publish } = await startServer(system)
      await call('PATCH /draft', {
        edits: [
          { at: '/action/Note', value: { class: 'sql-table', config: { table: 'app_note', columns: ['id', 'text'] } } },
          { at: '/routes/~1note', value: { methods: { GET: { public: true, action: 'Note' } } } },
          { at: '/event/note_added', value: { description: 'A note was added' } },
        ],
        files: [
          {
            file: 'migrations/System/20261101-note.yml',
            text: 'create_table: { app_note: { columns: { id: id, text: text(200) } } }\n',
            if: null,
          },
        ],
      })
      const draft = await newFolder(system.variables)
      assert.match((await draft.run('pull')).stderr, /Nothing has been deployed/)
      assert.match((await draft.run('pull --draft')).stderr, /Source {5}.* {3}draft\n/)
      await publish({ migrate: true, message: 'Built by clicking' })
      await until('it is served', async () => (await send(port, { path: '/note' })).status === 200)
      const project = await newFolder(system.variables)
      await project.ok('pull')
      for (const file of ['waypost.yml', 'migrations/System/20261101-note.yml'])
        assert.equal(await draft.read(file), await project.read(file))
      const at = encodeURIComponent('/event/note_added/description')
      await call(`PUT /draft/value?at=${at}`, { value: 'For each note' })
      const release = await publish()
      await project.ok('pull --yes')
      assert.match(await project.read('waypost.yml'), /For each note/)
      assert.match(await project.ok('pull'), /Nothing to pull/)
      const other = await newSystem()
      assert.equal(await deploy(await reopen(project, other)), release)
      assert.match(await project.ok('deploy --plan'), /published in the backend and now in the project/)
      assert.equal(await deploy(project), release)
    })

    it('is not overwritten by the next deployment from Git, but pulled and deployed as the same release', async () => {
      const system = await newSystem()
      const project = await makeProject(system.variables)
      closers.push(project.remove)
      const first = await deploy(project)
      const { port, call, publish } = await startServer(system)
      const at = encodeURIComponent('/routes/~1todo/methods/GET/description')
      await call(`PUT /draft/value?at=${at}`, { value: 'Changed on the server' })
      const copy = await newFolder(system.variables)
      await copy.ok('pull')
      assert.match(await copy.ok('pull'), /Nothing to pull/)
      const url = `--url http://127.0.0.1:${port}`
      await copy.ok(`pull --draft --yes ${url}`, { env: await makeReader(system) })
      assert.match(await copy.read('resources/routes/todo/collection.yml'), /description: Changed on the server/)
      const release = await publish()
      assert.notEqual(release, first)
      const refused = await project.run('deploy --yes')
      assert.equal(refused.code, 1, refused.stdout)
      assert.match(refused.stderr, /undone +\/routes\/~1todo\/methods\/GET\/description/)
      assert.match(refused.stderr, /would undo 1 change made in the backend/)
      await project.ok('pull --yes')
      assert.match(await project.read('resources/routes/todo/collection.yml'), /description: Changed on the server/)
      assert.equal(await deploy(project), release)

      for (const value of ['Changed', 'Changed again']) {
        await call(`PUT /draft/value?at=${at}`, { value })
        await publish()
        if (value === 'Changed') await project.ok('pull --yes')
      }
      await project.edit('resources/routes/todo/collection.yml', 'description: Changed', 'description: Changed in Git')
      const { code, stdout } = await project.run('pull --yes')
      assert.equal(code, 1)
      assert.match(stdout, /Conflict .*collection\.yml:\d+ +\/routes\/~1todo\/methods\/GET\/description\n/)
      assert.equal((await project.run('deploy --yes')).code, 1)
      await project.ok('pull --mine')
      await project.ok('deploy --yes --overwrite-backend')
    })
  })
}

/** The credentials of a client that may read definitions. */
async function makeReader({ host }: NewSystem): Promise<Readonly<Record<string, string>>> {
  const scope = ['backend.read']
  await addUser(host.system, { name: 'reader', scopes: scope })
  const options = { name: 'reader', user: 'reader', scopes: scope, redirectUris: [], public: false }
  const { id, secret = '' } = await addClient(host.system, { ...options, grants: ['client_credentials'] })
  return { WAYPOST_CLIENT_ID: id, WAYPOST_CLIENT_SECRET: secret }
}

/** The same folder, on another System. */
async function reopen({ folder, remove }: TestProject, { variables }: NewSystem): Promise<TestProject> {
  return openProject(folder, variables, remove)
}
