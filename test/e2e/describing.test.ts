import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { checkout } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { isLong, longTest } from '../support/forms.ts'

const run = promisify(execFile)

describe('commands that describe a project', () => {
  let project: TestProject
  before(async () => {
    project = await makeProject()
  })
  after(() => project.remove())

  it('openapi prints the document that a server returns', async () => {
    await project.edit('waypost.yml', 'config: {', 'config: { title: To-dos, description: Lists of to-dos,')
    const printed = JSON.parse(await project.ok('openapi')) as { info: { title: string; description: string } }
    assert.equal(printed.info.title, 'To-dos')
    assert.match(printed.info.description, /^Lists of to-dos\n\nSend an access token /)
    if (!isLong) return // dev.test.ts compares them
    const dev = project.start('dev --port 0 --no-deliver')
    const [, docs = ''] = await dev.waitFor(/Docs +(\S+)/)
    const served = await fetch(new URL('/openapi.json', docs))
    assert.deepEqual(printed, await served.json())
    assert.equal((await dev.stop()).code, 0)
  })

  it('openapi writes a file with the address of the API', async () => {
    const env = { WAYPOST_BASE_URL: 'https://api.acme.test/' }
    const { code, stdout, stderr } = await project.run('openapi --output out/api/openapi.json', { env })
    assert.deepEqual([code, stdout, stderr], [0, '', '  Wrote  out/api/openapi.json\n'])
    const { servers, paths } = JSON.parse(await project.read('out/api/openapi.json'))
    assert.deepEqual(servers, [{ url: 'https://api.acme.test' }])
    assert.deepEqual(Object.keys(paths), ['/todo', '/todo/{todo_id}'])
  })

  it('openapi fails if it cannot write, and if the base URL is invalid', async () => {
    const unwritable = await project.run('openapi --output waypost.yml/openapi.json')
    assert.equal(unwritable.code, 1)
    assert.match(unwritable.stderr, /^Error: Cannot write "waypost\.yml\/openapi\.json": /)
    const wrong = await project.run('openapi', { env: { WAYPOST_BASE_URL: 'api' } })
    assert.deepEqual([wrong.code, wrong.stdout], [1, ''])
    assert.match(wrong.stderr, /^Error: .*"api"/)
  })

  it('routes prints required scopes and locations as whole paths, which editors open', async () => {
    const { code, stdout, stderr } = await project.run('routes')
    assert.equal(code, 0)
    assert.equal(
      stdout,
      [
        'METHOD  PATH            ACCESS  ACTION                  SOURCE',
        'GET     /todo           public  src/todo/collection.ts  resources/routes/todo/collection.yml:4',
        'POST    /todo           todo    src/todo/insert.ts      resources/routes/todo/collection.yml:11',
        'GET     /todo/:todo_id  public  src/todo/entity.ts      resources/routes/todo/entity.yml:6',
        'PUT     /todo/:todo_id  todo    src/todo/update.ts      resources/routes/todo/entity.yml:11',
        'DELETE  /todo/:todo_id  todo    src/todo/delete.ts      resources/routes/todo/entity.yml:16\n',
      ].join('\n'),
    )
    assert.equal(stderr, '\n2 routes, 5 methods\n')
  })

  it('routes prints all of it as data', async () => {
    const { routes } = JSON.parse(await project.ok('routes --json'))
    assert.equal(routes.length, 5)
    assert.deepEqual(routes[1], {
      method: 'POST',
      path: '/todo',
      public: false,
      scopes: ['todo'],
      action: 'src/todo/insert.ts',
      source: 'resources/routes/todo/collection.yml:11',
      description: 'Creates a to-do',
    })
  })

  it('tables lists the tables, and draws them', async () => {
    const { code, stdout, stderr } = await project.run('tables')
    assert.deepEqual([code, stderr], [0, '\n1 table\n'])
    assert.match(stdout, /^CONNECTION +TABLE +KEY +COLUMNS +REFERS TO *\nSystem +app_todo +id +/)
    assert.match(await project.ok('tables --mermaid'), /^erDiagram\n {2}app_todo \{\n/)
    assert.equal(JSON.parse(await project.ok('tables --json')).tables[0].name, 'app_todo')
    const alone = await project.run('tables --connection System')
    assert.equal(alone.code, 2)
  })

  // In CI, project/generate-client.test.ts and clients/ have such clients.
  longTest('generate:client writes a client whose calls are typed', async () => {
    const { code, stderr } = await project.run('generate:client --output client/api.ts')
    assert.deepEqual([code, stderr.split('\n')[0]], [0, '  Wrote  client/api.ts'])
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(project.folder, 'node_modules/@oazapfts'))
    // What it says of its own types is checked too.
    await project.edit('client/api.ts', '// @ts-nocheck\n', '')
    await project.write('client/good.ts', useClient("{ title: 'Buy milk', content: 'Two bottles' }"))
    await project.write('client/bad.ts', useClient("{ title: 1, content: 'Two bottles' }"))
    assert.deepEqual(await typeCheck(project, 'client/good.ts'), [])
    assert.deepEqual(await typeCheck(project, 'client/bad.ts'), [
      "client/bad.ts(4,36): error TS2322: Type 'number' is not assignable to type 'string'.",
    ])
  })

  // In CI, clients/openapi-clients.test.ts calls an API by generated clients.
  longTest('a generated client reaches the API', async () => {
    const dev = project.start('dev --port 0 --no-deliver')
    const [, url = ''] = await dev.waitFor(/API +(\S+)/)
    const script = `import { defaults, listTodos, createTodo } from './client/api.ts'
      defaults.baseUrl = '${url}'
      const list = await listTodos({ startIndex: 0 })
      const refused = await createTodo({ title: 'x', content: 'y' })
      console.log(list.status, list.data.itemsPerPage, refused.status, refused.data.type)`
    await project.write('try.ts', script)
    const { stdout } = await run(process.execPath, ['try.ts'], { cwd: project.folder })
    assert.equal(stdout, '200 16 401 urn:waypost:errors#WP_AUTH_NO_TOKEN\n')
    await dev.stop()
  })

  it('a project with errors is not described: its errors are listed on stderr', async () => {
    await project.edit(
      'resources/schema.yml',
      'content: { type: string }\n    insert_date',
      'content: { type: sting }\n    insert_date',
    )
    for (const command of ['openapi', 'routes', 'generate:client']) {
      const { code, stdout, stderr } = await project.run(command)
      assert.deepEqual([code, stdout], [1, ''], command)
      assert.match(stderr, /^resources\/schema\.yml:9:22 {2}"sting" is not a JSON Schema type/, command)
      assert.match(stderr, /\nError: The project has 1 error/, command)
    }
    const { code, stdout } = await project.run('routes --json')
    assert.equal(code, 1)
    assert.equal(JSON.parse(stdout).error.code, 'WP_PROJECT_BROKEN')
  })

  it('each leads its help with examples', async () => {
    for (const command of ['openapi', 'routes', 'generate:client']) {
      const [, heading = '', first = ''] = (await project.ok(`${command} --help`))
        .split('\n\n')
        .flatMap((part) => part.split('\n'))
      assert.equal(heading, 'EXAMPLES', command)
      assert.match(first, new RegExp(`^  \\$ waypost ${command}`))
    }
  })
})

function useClient(body: string): string {
  return `import { defaults, createTodo } from './api.ts'

defaults.headers = { authorization: 'Bearer x' }
const created = await createTodo(${body})
if (created.status === 201) {
  const id: number | undefined = created.data.id
  console.log(id)
} else {
  const detail: string = created.data.detail
  console.log(detail)
}
`
}

async function typeCheck(project: TestProject, file: string): Promise<string[]> {
  const config = {
    extends: '../tsconfig.json',
    compilerOptions: { lib: ['es2024', 'dom', 'dom.iterable'] },
    include: [],
    files: [path.basename(file)],
  }
  await project.write('client/tsconfig.json', JSON.stringify(config))
  const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', 'client', '--pretty', 'false'], {
    cwd: project.folder,
  }).catch((error: { stdout: string }) => error)
  return stdout.split('\n').filter((line) => line !== '')
}
