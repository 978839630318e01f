import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { writeContentDisposition } from '../../src/runtime/media/content-disposition.ts'
import { parseRange } from '../../src/runtime/media/range.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

test('a Range of one part is parsed; several parts, other units and malformed ones are all of the body', () => {
  const parsed = (header: string, size = 10) => {
    const range = parseRange(header, size)
    return typeof range === 'object' ? `${range.start}-${range.end}` : range
  }
  for (const [header, expected] of [
    ['bytes=0-0', '0-0'], ['bytes=2-4', '2-4'], ['bytes=2-', '2-9'], ['bytes=-3', '7-9'], ['bytes=-99', '0-9'],
    ['bytes=5-999999999999999999999999', '5-9'], ['Bytes=1-2', '1-2'], [' bytes= 1-2 ', '1-2'], ['bytes=9-9', '9-9'],
  ] as const) assert.equal(parsed(header), expected, header) // prettier-ignore
  for (const header of ['bytes=10-', 'bytes=10-11', 'bytes=-0', 'bytes=999999999999999999999999-'])
    assert.equal(parsed(header), 'unsatisfiable', header)
  for (const header of [
    '', 'bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=1', 'bytes=4-2', 'bytes=0-1,3-4', 'bytes=0-1,', 'items=0-1',
    'bytes=--1', 'bytes=0x1-2', 'bytes=1.5-2', 'bytes=+1-2', 'bytes =0-1', `bytes=${'0-1,'.repeat(1000)}`, 'bytes=٣-٤',
  ]) assert.equal(parsed(header), undefined, header) // prettier-ignore
  assert.equal(parsed('bytes=0-', 0), 'unsatisfiable')
  assert.equal(parsed('bytes=-1', 0), 'unsatisfiable')
})

test('Content-Disposition has the name in ASCII and in UTF-8, without what could mislead', () => {
  assert.equal(
    writeContentDisposition('attachment', 'Größe "5%".pdf'),
    `attachment; filename="Gr__e _5__.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%225%25%22.pdf`,
  )
  const shown = (name: string) => /filename\*=UTF-8''(.*)$/.exec(writeContentDisposition('inline', name))?.[1]
  assert.equal(shown('a/../..\\b.txt'), 'b.txt')
  assert.equal(shown('a\r\nSet-Cookie: x\0.txt'), 'aSet-Cookie%3A%20x.txt')
  assert.equal(shown('\u202egnp.exe'), 'gnp.exe')
  assert.equal(shown("it's (1)*.txt"), 'it%27s%20%281%29%2A.txt')
  assert.equal(decodeURIComponent(shown('ä'.repeat(10_000))!), 'ä'.repeat(127))
  assert.equal(decodeURIComponent(shown('\ud800')!), '\ufffd')
  for (const name of ['', '..', 'a/', '\n', '\u202e']) assert.equal(writeContentDisposition('inline', name), 'inline')
})

const text = 'abcdefghij'
const yml = `
routes:
  /own: { methods: { GET: { public: true, action: src/own.ts } } }
  /inline: { methods: { GET: { public: true, html: trusted, action: src/inline.ts } } }
  /blob: { methods: { GET: { public: true, action: src/blob.ts } } }
  /kept: { methods: { GET: { public: true, cache: { max_age: 60s }, action: src/blob.ts } } }
  /folder: { methods: { GET: { public: true, parameters: { name: { type: string } }, action: src/folder.ts } } }
  /long: { methods: { GET: { public: true, action: src/long.ts } } }
  /json: { methods: { GET: { public: true, response: { content: { application/json: { type: object, required: [id], properties: { id: { type: integer } } } } }, action: src/json.ts } } }
  /post: { methods: { POST: { public: true, action: src/own.ts } } }
  /wrong: { methods: { GET: { public: true, action: src/wrong.ts } } }
  /unused: { methods: { GET: { public: true, action: src/unused.ts } } }
  /late: { methods: { GET: { public: true, timeout: 50ms, action: src/late.ts } } }
config: { compression: true }
`
const files = {
  'waypost.yml': yml,
  'data/letters.txt': text,
  'data/data.json': '{"id":1}',
  'data/long.txt': 'long '.repeat(1000),
  'data/page.html': '<script>alert(1)</script>',
  'src/own.ts': actionFile(
    `return context.file(new URL('../data/letters.txt', import.meta.url), { type: 'text/plain' })`,
  ),
  'src/inline.ts': actionFile(
    `return context.file(new URL('../data/page.html', import.meta.url), { type: 'text/html', inline: true, name: 'é.html' })`,
  ),
  'src/blob.ts': actionFile(`return context.file(new File(['${text}'], '../x.png', { type: 'image/png' }))`),
  'src/long.ts': actionFile(
    `return context.file(new URL('../data/long.txt', import.meta.url), { type: 'text/plain' })`,
  ),
  'src/json.ts': actionFile(
    `const type = 'application/json'
     return request.url.includes('blob')
       ? context.file(new Blob(['{"id":1}'], { type }))
       : context.file(new URL('../data/data.json', import.meta.url), { type })`,
  ),
  'src/folder.ts': actionFile(
    `return context.file(request.query.name ?? "", { root: (globalThis as any)[Symbol.for('waypost.test.files')] })`,
  ),
  'src/wrong.ts': actionFile(`return context.file('/etc/hostname')`),
  'src/unused.ts': actionFile(
    `await context.file(new URL('../data/letters.txt', import.meta.url))
     throw context.problem(409, 'Not now')`,
  ),
  'src/late.ts': actionFile(
    `await new Promise((resolve) => setTimeout(resolve, 200))
     return context.file(new URL('../data/letters.txt', import.meta.url))`,
  ),
}

/** What this process has open below a folder. */
async function listOpen(folder: string): Promise<readonly string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return links.filter((file) => file.startsWith(folder) || file.includes('letters'))
}

const undescribed = 'the type of a file that a method does not declare'

describe('a file', () => {
  let server: ProjectServer
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-files-'))
    ;(globalThis as Record<symbol, unknown>)[Symbol.for('waypost.test.files')] = path.join(folder, 'root')
    await mkdir(path.join(folder, 'root/deep'), { recursive: true })
    await writeFile(path.join(folder, 'secret.txt'), 'secret')
    await writeFile(path.join(folder, 'root/.env'), 'secret')
    await writeFile(path.join(folder, 'root/empty.txt'), '')
    await writeFile(path.join(folder, 'root/deep/a.txt'), text)
    await writeFile(path.join(folder, 'root/large.bin'), Buffer.alloc(20 * 1024 * 1024, 'x'))
    await utimes(path.join(folder, 'root/deep/a.txt'), 1_700_000_000, 1_700_000_000)
    await symlink('../secret.txt', path.join(folder, 'root/link.txt'))
    await symlink('deep/a.txt', path.join(folder, 'root/inner.txt'))
    await symlink('..', path.join(folder, 'root/up'))
    await symlink('loop', path.join(folder, 'root/loop'))
    execFileSync('mkfifo', [path.join(folder, 'root/pipe')])
    server = await openProjectServer({ files })
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(server.port, { path: target, headers, method, undescribed })
  const inFolder = (name: string, headers?: Record<string, string>) =>
    get(`/folder?name=${encodeURIComponent(name)}`, headers)

  test('of the project is a download with ETag, Last-Modified, its length and Range', async () => {
    const whole = await get('/own')
    assert.equal(whole.status, 200)
    assert.equal(whole.text, text)
    assert.equal(whole.headers['content-type'], 'text/plain')
    assert.equal(whole.headers['content-length'], '10')
    assert.equal(whole.headers['accept-ranges'], 'bytes')
    assert.match(String(whole.headers['etag']), /^"[\w-]+"$/)
    assert.match(String(whole.headers['content-disposition']), /^attachment; filename=".*letters.*\.txt"; filename\*=/)
    const part = await get('/own', { range: 'bytes=2-4' })
    assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, 'cde', 'bytes 2-4/10'])
    assert.equal(part.headers['content-length'], '3')
    assert.equal(part.headers['etag'], whole.headers['etag'])
    const beyond = await get('/own', { range: 'bytes=10-' })
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */10'])
    assert.equal(beyond.headers['etag'], undefined)
    const several = await get('/own', { range: 'bytes=0-1,3-4' })
    assert.deepEqual([several.status, several.text], [200, text])
    const head = await get('/own', { range: 'bytes=2-4' }, 'HEAD')
    assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '10', ''])
  })

  test('has conditions: 304 before Range, If-Range by a strong ETag or an old date, If-Match', async () => {
    const { headers } = await inFolder('deep/a.txt')
    const etag = String(headers['etag'])
    const modified = String(headers['last-modified'])
    assert.equal(modified, new Date(1_700_000_000_000).toUTCString())
    const known = await inFolder('deep/a.txt', { 'if-none-match': etag, range: 'bytes=50-' })
    assert.deepEqual([known.status, known.headers['content-length'], known.headers['etag']], [304, undefined, etag])
    assert.equal((await inFolder('deep/a.txt', { 'if-modified-since': modified })).status, 304)
    for (const [value, status] of [
      [etag, 206], [modified, 206], [`W/${etag}`, 200], ['"other"', 200], ['yesterday', 200],
      [new Date(1_700_000_001_000).toUTCString(), 200],
    ] as const) assert.equal((await inFolder('deep/a.txt', { range: 'bytes=0-1', 'if-range': value })).status, status, value) // prettier-ignore
    assert.equal((await inFolder('deep/a.txt', { 'if-match': '"other"' })).status, 412)
    assert.equal((await inFolder('deep/a.txt', { 'if-match': etag })).status, 200)
  })

  test('is not found outside of its root, through links, hidden, or if it is no regular file', async () => {
    assert.equal((await inFolder('deep/a.txt')).text, text)
    assert.equal((await inFolder('inner.txt')).text, text, 'a link within the folder')
    for (const name of [
      '', '.', '..', '/', 'deep', 'deep/', '/deep/a.txt', 'deep//a.txt', './deep/a.txt', 'deep/../deep/a.txt', '../secret.txt',
      'deep/../../secret.txt', 'link.txt', 'up/secret.txt', 'up/root/deep/a.txt', 'loop', '.env', 'missing.txt', 'deep/a.txt/b', 'pipe',
      path.join(folder, 'secret.txt'), `file://${folder}/secret.txt`, 'x'.repeat(300), 'a/'.repeat(3000), '..\\secret.txt',
    ]) assert.equal((await inFolder(name)).status, name === 'up/root/deep/a.txt' ? 200 : 404, name) // prettier-ignore
    assert.ok((await get('/folder?name=deep%00')).status === 400)
  })

  test('is not found any more once its folder is another one, a link or gone, however recently it was found', async () => {
    const at = (name: string) => path.join(folder, 'root', name)
    const read = async () => (await inFolder('moving/a.txt')).text
    const make = async (content: string) => {
      await mkdir(at('moving'))
      await writeFile(at('moving/a.txt'), content)
    }
    const statusOf = async () => (await inFolder('moving/a.txt')).status
    assert.equal(await statusOf(), 404)
    await make('first')
    assert.equal(await read(), 'first')
    await rename(at('moving'), at('moved'))
    assert.equal(await statusOf(), 404)
    await make('second')
    assert.equal(await read(), 'second')
    await mkdir(path.join(folder, 'outside'))
    await writeFile(path.join(folder, 'outside/a.txt'), 'secret')
    await rename(at('moving'), at('moved again'))
    await symlink('../outside', at('moving'))
    assert.equal(await statusOf(), 404)
    await rm(at('moving'))
    await symlink('moved', at('moving'))
    assert.equal(await read(), 'first', 'a link within the folder')
  })

  test('that is empty has no ranges', async () => {
    const whole = await inFolder('empty.txt')
    assert.deepEqual([whole.status, whole.text, whole.headers['content-length']], [200, '', '0'])
    assert.equal((await inFolder('empty.txt', { range: 'bytes=0-' })).status, 416)
  })

  test('that is shown inline stays in a sandbox, also where HTML is trusted', async () => {
    const shown = await get('/inline')
    assert.equal(shown.headers['content-security-policy'], 'sandbox')
    assert.equal(shown.headers['x-content-type-options'], 'nosniff')
    assert.equal(shown.headers['content-disposition'], `inline; filename="_.html"; filename*=UTF-8''%C3%A9.html`)
  })

  test('in memory has ranges and its own name and type', async () => {
    const part = await get('/blob', { range: 'bytes=-2' })
    assert.deepEqual([part.status, part.text, part.headers['content-type']], [206, 'ij', 'image/png'])
    assert.match(String(part.headers['content-disposition']), /filename="x\.png"/)
    assert.equal(part.headers['etag'], undefined)
    assert.equal((await get('/blob', { range: 'bytes=0-1', 'if-range': '"x"' })).status, 200)
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await get('/kept', {}, method)
      assert.deepEqual(
        [headers['etag'], headers['cache-control'], headers['content-length']],
        [undefined, 'private, max-age=60', '10'],
      )
    }
  })

  test('is compressed as a whole, but not in part', async () => {
    const large = await inFolder('large.bin', { 'accept-encoding': 'gzip', range: 'bytes=0-4999' })
    assert.deepEqual([large.status, large.headers['content-encoding']], [206, undefined])
  })

  test('has the same headers for HEAD and GET, and a part has the Vary of the whole', async () => {
    for (const path of ['/own', '/long', '/blob', '/folder?name=large.bin']) {
      const list = async (method: string) => {
        const { headers } = await get(path, { 'accept-encoding': 'br' }, method)
        return [headers['etag'], headers['content-encoding'], headers['vary'], headers['accept-ranges']]
      }
      assert.deepEqual(await list('HEAD'), await list('GET'), path)
    }
    assert.equal((await get('/long', { 'accept-encoding': 'br' }, 'HEAD')).headers['content-encoding'], 'br')
    const part = await get('/long', { range: 'bytes=0-1' })
    assert.deepEqual([part.status, part.headers['vary']], [206, 'Accept-Encoding'])
  })

  test('may be declared as JSON', async () => {
    const { headers, text: json } = await get('/json')
    assert.equal(json, '{"id":1}')
    assert.equal((await get('/json', {}, 'HEAD')).status, 200)
    assert.equal((await get('/json', { 'if-none-match': String(headers['etag']) })).status, 304)
    for (const method of ['GET', 'HEAD']) assert.equal((await get('/json?blob', {}, method)).status, 200)
  })

  test('that a writing method sends is whole, whatever its caller has', async () => {
    const { headers } = await get('/post', {}, 'POST')
    const known = {
      'if-none-match': String(headers['etag']),
      'if-modified-since': String(headers['last-modified']),
    }
    const { status, text: sent } = await get('/post', known, 'POST')
    assert.deepEqual([status, sent], [200, text])
  })

  test('that becomes shorter while it is sent ends the connection', async () => {
    const file = path.join(folder, 'root/shrinking.bin')
    await writeFile(file, Buffer.alloc(20 * 1024 * 1024))
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
    socket.write('GET /folder?name=shrinking.bin HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.pause()
    await truncate(file, 16 * 1024 * 1024)
    socket.resume()
    await once(socket, 'close', { signal: AbortSignal.timeout(20_000) })
  })

  test('by a path needs a root', async () => {
    assert.equal((await get('/wrong')).status, 500)
    assert.match(JSON.stringify(server.logs.at(-1)), /context\.file needs \{ root: FOLDER \}/)
  })

  test('is closed if it is not sent, sent after the timeout, or if its reader leaves', async () => {
    for (const target of ['/own', '/unused', '/late', '/own?x'])
      await get(target, {}, target === '/own?x' ? 'HEAD' : 'GET')
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /folder?name=large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    assert.deepEqual(await listOpen(folder), [path.join(folder, 'root/large.bin')])
    socket.destroy()
    await until('the file is closed', async () => (await listOpen(folder)).length === 0)
  })
})
