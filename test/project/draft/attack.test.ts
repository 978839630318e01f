import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openHost } from '../../../src/host/index.ts'
import { issueHostToken } from '../../../src/operate/index.ts'
import { openProjectServer } from '../../support/project-server.ts'
import { isLong } from '../../support/forms.ts'
import { bodyOf, openDraft, type DraftWorld } from '../../support/draft-world.ts'
import { send } from '../../support/send.ts'
import { asCommand } from '../../support/server.ts'

const files = {
  'waypost.yml': 'routes:\n  /todo: !include resources/routes/todo.yml\n',
  'resources/routes/todo.yml': 'methods:\n  GET: { public: true, action: src/todo.ts }\n',
  'src/todo.ts': 'export default class Todo {\n  handle() {\n    return { id: 1 }\n  }\n}\n',
  'package.json': '{ "name": "todo" }\n',
  'tsconfig.json': '{}\n',
  '.env': 'SECRET=1\n',
}

describe('what an attacker sends to the draft of a folder', () => {
  let world: DraftWorld
  let outside: string
  before(async () => {
    world = await openDraft(files)
    outside = `${world.root}-outside`
    await mkdir(outside)
    await writeFile(path.join(outside, 'secret.yml'), 'secret: 1\n')
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    await rm(outside, { recursive: true })
  })

  const paths = [
    '.env',
    '.env.yml',
    './waypost.yml',
    '../secret.yml',
    'resources/../.env',
    'resources/../../secret.yml',
    'resources/./routes/todo.yml',
    'resources//routes/todo.yml',
    'resources\\routes\\todo.yml',
    'resources/.hidden/a.yml',
    'resources/a.yml\0.txt',
    'resources/\n.yml',
    'resources/a:b.yml',
    'resources/package.json',
    'resources/tsconfig.json',
    'resources/node_modules/a.yml',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'src/todo.ts',
    'src/new.ts',
    'resources/run.sh',
    'docker-compose.yml',
    'migrations/System/0001.ts',
    'migrations/System/deep/0001.yml',
    'migrations/a.yml',
    '.github/workflows/ci.yml',
    '.waypost/server.json',
    'node_modules/waypost/package.json',
    '/etc/hosts.yml',
    '~/a.yml',
    '',
  ]

  test('no other file is read, written or deleted, however its path is written', async () => {
    const before = await snapshot(world.root)
    for (const [index, file] of paths.entries()) {
      const once = encodeURIComponent(file)
      // Outside the long form, every fourth is encoded twice too.
      for (const encoded of isLong || index % 4 === 0 ? [once, encodeURIComponent(once)] : [once]) {
        const target = `/draft/file?path=${encoded}`
        for (const [line, json] of [
          [`GET ${target}`, undefined],
          [`PUT ${target}&with_errors=true`, { text: 'a: 1\n' }],
          [`DELETE ${target}&with_errors=true`, undefined],
        ] as const) {
          const { status, text } = await world.call(line, json)
          assert.ok([400, 404, 422].includes(status), `${line}: ${status} ${text}`)
        }
      }
      const patched = await world.call('PATCH /draft', { files: [{ file, text: 'a: 1\n' }], with_errors: true })
      assert.ok([400, 422].includes(patched.status), `${file}: ${patched.status} ${patched.text}`)
    }
    assert.deepEqual(await snapshot(world.root), before)
  })

  test('a value cannot make the API write elsewhere: an include is text in it', async () => {
    const saved = bodyOf(
      await world.call('PATCH /draft', {
        edits: [
          { at: '/routes/~1..~1..~1escape', value: { methods: { GET: { public: true, action: 'src/todo.ts' } } } },
        ],
        with_errors: true,
      }),
    )
    for (const file of saved.files) assert.match(file, /^(waypost\.yml|resources\/routes\/[\w/-]+\.yml)$/)
    bodyOf(await world.call('PATCH /draft', { ...saved.inverse, with_errors: true }))
    const text = '!include ../../outside.yml'
    const other = bodyOf(
      await world.call('PATCH /draft', { edits: [{ at: '/schema/A/description', value: text }], with_errors: true }),
    )
    const { value } = bodyOf(await world.call('GET /draft/value?at=/schema/A/description'))
    assert.equal(value, text)
    bodyOf(await world.call('PATCH /draft', { ...other.inverse, with_errors: true }))
  })

  test('keys that have a meaning in JavaScript are only keys', async () => {
    for (const at of ['/__proto__/a', '/schema/__proto__/a', '/constructor/prototype/a', '/routes/__proto__']) {
      const { status } = await world.call('PATCH /draft', { edits: [{ at, value: 1 }] })
      assert.ok([400, 404, 422].includes(status), `${at}: ${status}`)
      assert.equal(({} as { a?: unknown }).a, undefined)
    }
    const { status } = await world.call(
      'PATCH /draft',
      '{"edits":[{"at":"/schema/A","value":{"__proto__":{"polluted":1}}}]}',
      { 'content-type': 'application/json' },
    )
    assert.equal(status, 400)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  })

  test('a symbolic link to a file or a folder is not followed, wherever it leads', async () => {
    const secret = path.join(outside, 'secret.yml')
    await symlink(secret, path.join(world.root, 'resources/link.yml'))
    await symlink(outside, path.join(world.root, 'resources/linked'))
    await symlink(path.join(world.root, 'resources/routes'), path.join(world.root, 'resources/inner'))
    await symlink(path.join(world.root, '.env'), path.join(world.root, 'resources/env.yml'))
    for (const file of [
      'link.yml',
      'linked/secret.yml',
      'linked/new.yml',
      'inner/todo.yml',
      'inner/new.yml',
      'env.yml',
    ]) {
      const target = `/draft/file?path=resources/${file}`
      assert.equal((await world.call(`GET ${target}`)).status, 404, file)
      assert.equal((await world.call(`PUT ${target}&with_errors=true`, { text: 'a: 1\n' })).status, 422, file)
      assert.equal((await world.call(`DELETE ${target}&with_errors=true`)).status, 404, file)
    }
    assert.equal(await readFile(secret, 'utf8'), 'secret: 1\n')
    assert.deepEqual(await readdir(outside), ['secret.yml'])
    assert.equal(await world.read('.env'), files['.env'])
    // Also if the definition includes it.
    await world.write('waypost.yml', `${files['waypost.yml']}schema: !include resources/link.yml\n`)
    await world.dev.reload()
    assert.equal((await world.call('GET /draft/file?path=resources/link.yml')).status, 404)
    const edited = await world.call('PATCH /draft', { edits: [{ at: '/schema/secret', value: 2 }], with_errors: true })
    assert.equal(edited.status, 422, edited.text)
    assert.equal(await readFile(secret, 'utf8'), 'secret: 1\n')
    await world.write('waypost.yml', files['waypost.yml'])
    for (const file of ['link.yml', 'linked', 'inner', 'env.yml']) await rm(path.join(world.root, 'resources', file))
    await world.dev.reload()
  })

  test('a link that replaces a folder between two requests is seen', async () => {
    await world.write('resources/swap/a.yml', 'a: 1\n')
    bodyOf(await world.call('GET /draft/file?path=resources/swap/a.yml'))
    await rm(path.join(world.root, 'resources/swap'), { recursive: true })
    await writeFile(path.join(outside, 'a.yml'), 'a: 1\n')
    await symlink(outside, path.join(world.root, 'resources/swap'))
    assert.equal((await world.call('GET /draft/file?path=resources/swap/a.yml')).status, 404)
    const { status } = await world.call('PUT /draft/file?path=resources/swap/a.yml', { text: 'a: 2\n' })
    assert.equal(status, 422)
    assert.equal(await readFile(path.join(outside, 'a.yml'), 'utf8'), 'a: 1\n')
    await rm(path.join(world.root, 'resources/swap'))
  })

  test('names that differ only in case, sizes and NUL characters are refused', async () => {
    const put = (file: string, text: string) =>
      world.call('PATCH /draft', { files: [{ file, text }], with_errors: true })
    for (const [file, text, problem] of [
      ['resources/routes/TODO.yml', 'a: 1\n', /upper and lower case/],
      ['Resources/routes/todo.yml', 'a: 1\n', /not a file of the definition|upper and lower case/],
      ['resources/routes/todo.yml/a.yml', 'a: 1\n', /folder/],
    ] as const) {
      const answer = await put(file, text)
      assert.equal(answer.status, 422, file)
      assert.match(answer.body.detail, problem)
    }
    assert.equal((await put('resources/nul.yml', 'a: "\0"\n')).status, 400)
    const large = await put('resources/large.yml', `# ${'x'.repeat(1024 * 1024)}`)
    assert.ok([400, 413, 422].includes(large.status), String(large.status))
    assert.deepEqual((await readdir(path.join(world.root, 'resources'))).toSorted(), ['routes'])
  })

  test('.env is written by no other route, and only its own route writes it', async () => {
    assert.equal(await world.read('.env'), files['.env'])
    const { mode } = await stat(path.join(world.root, 'waypost.yml'))
    bodyOf(await world.call('PATCH /draft', { edits: [{ at: '/routes/~1todo/methods/GET/timeout', value: '5s' }] }))
    assert.equal((await stat(path.join(world.root, 'waypost.yml'))).mode, mode)
  })

  test('without a token, with too few scopes, and from a page of another site nothing is answered', async () => {
    const { token } = await world.dev.issueToken()
    for (const headers of [{}, { cookie: `token=${token}`, origin: 'https://evil.example' }])
      for (const [method, target] of [
        ['GET', '/draft'],
        ['PATCH', '/draft'],
        ['GET', '/draft/value?at='],
      ] as const)
        assert.equal((await send(world.port, { method, path: `/backend${target}`, headers })).status, 401)
    const host = await openHost({ folder: world.root, variables: process.env })
    const { user } = (await world.call('GET /account')).body
    const scopes = ['backend.read', 'backend.write']
    const limited = await issueHostToken(asCommand(host), { user: user.name, scopes, expires: undefined })
    await host.close()
    const writing = { authorization: `Bearer ${limited.access_token}` }
    const body = { edits: [{ at: '/config', value: {} }] }
    const refused = await send(world.port, { method: 'PATCH', path: '/backend/draft', headers: writing, body })
    assert.equal(refused.status, 403, 'a save is served at once')
    assert.equal((await send(world.port, { path: '/backend/draft', headers: writing })).status, 200)
    const { body: document } = await send(world.port, { path: '/backend/openapi.json', headers: writing })
    assert.deepEqual(document.paths['/backend/draft'].patch.security, [{ token: ['backend.deploy'] }])
    const rebound = { authorization: `Bearer ${token}`, host: 'evil.example' }
    assert.ok((await send(world.port, { path: '/backend/draft', headers: rebound })).status >= 400)
  })
})

test('other machines get 403, also if a proxy or the caller names a loopback address', async (context) => {
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
  if (address === undefined) return context.skip('this machine has no other address')
  await using world = await openDraft(files, { host: '0.0.0.0' })
  const { token } = await world.dev.issueToken()
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }
  const answer = await fetch(`http://${address}:${world.port}/backend/draft`, { headers })
  assert.equal(answer.status, 403)
  assert.match(await answer.text(), /WP_BACKEND_DRAFT_LOOPBACK/)
  const account = await fetch(`http://${address}:${world.port}/backend/account`, { headers })
  assert.equal(account.status, 200)
})

test('a server whose backend is read-only has no draft', async () => {
  const variables = { WAYPOST_BACKEND: 'read' }
  await using world = await openProjectServer({ files: { 'waypost.yml': 'routes: {}\n' }, variables })
  const headers = await world.authorize('ann', ['backend.read', 'backend.write'])
  for (const [method, target, body] of [
    ['GET', '/draft', undefined],
    ['GET', '/draft/file?path=waypost.yml', undefined],
    ['PATCH', '/draft', { edits: [{ at: '/schema/A', value: {} }] }],
    ['PUT', '/draft/variable/A', { value: '1' }],
  ] as const) {
    const answer = await send(world.port, { method, path: `/backend${target}`, headers, ...(body && { body }) })
    assert.deepEqual([answer.status, answer.body.type], [404, 'urn:waypost:errors#WP_BACKEND_DRAFT'])
  }
})

/** All files of a folder but those of packages and `.waypost`, with their texts. */
async function snapshot(root: string, folder = ''): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
    const file = path.posix.join(folder, entry.name)
    if (entry.isFile()) found[file] = await readFile(path.join(root, file), 'utf8')
    else if (entry.isDirectory() && file !== '.waypost' && file !== 'node_modules')
      Object.assign(found, await snapshot(root, file))
  }
  return found
}
