import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const script = `console.log(${JSON.stringify('abcdefghij'.repeat(300))})\n`

const files = {
  'waypost.yml': `
static:
  /assets: { folder: public, max_age: 1d }
  /assets/deep: { folder: deep }
  /: { folder: app, fallback: index.html }
routes:
  /assets/taken.txt: { methods: { GET: { public: true, action: src/taken.ts } } }
  /assets/posted: { methods: { POST: { public: true, action: src/taken.ts } } }
  /item/:id: { methods: { GET: { public: true, action: src/taken.ts } } }
config: { compression: true }
`,
  'src/taken.ts': 'export default class { handle() { return { from: "the route" } } }\n',
  'public/a.txt': '0123456789',
  'public/script.js': script,
  'public/taken.txt': 'the file',
  'public/posted': 'the file',
  'public/ö é.txt': 'umlaut',
  'public/.env': 'SECRET=1',
  'public/.well/known': 'hidden',
  'public/sub/index.html': '<p>sub</p>',
  'public/empty': '',
  'deep/x.txt': 'deep',
  'app/index.html': '<script src="/assets/script.js"></script>',
  'app/docs/index.html': 'not reachable: /docs belongs to Waypost',
  'app/item/7': 'not reachable: a route has the path',
  'app/__proto__': 'a name like any other',
}

describe('static files', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    send(server.port, { path, headers, method, undescribed: 'files are not described' })
  const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('are sent with their type, a strong ETag and how long they may be kept', async () => {
    const { status, text, headers } = await get('/assets/a.txt?v=1')
    assert.deepEqual([status, text], [200, '0123456789'])
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(headers['cache-control'], 'public, max-age=86400')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-length'], '10')
    assert.match(String(headers['etag']), /^"[0-9a-f]{32}"$/)
    assert.equal(headers['last-modified'], undefined, 'the copy of each server has another date')
    const index = await get('/assets/sub/')
    assert.equal(index.headers['cache-control'], 'public, no-cache', 'pages name files of their release')
    assert.equal(index.headers['content-security-policy'], undefined, 'pages may have scripts')
    assert.equal((await get('/assets/empty')).text, '')
    assert.equal((await get(`/assets/${encodeURIComponent('ö é.txt')}`)).text, 'umlaut')
    assert.equal((await get('/__proto__')).status, 200)
  })

  test('conditions, HEAD and ranges of every form', async () => {
    const { headers } = await get('/assets/a.txt')
    const etag = String(headers['etag'])
    assert.equal((await get('/assets/a.txt', { 'if-none-match': etag })).status, 304)
    assert.equal((await get('/assets/a.txt', { 'if-none-match': `W/${etag}, "x"` })).status, 304)
    assert.equal((await get('/assets/a.txt', { 'if-none-match': '"x"' })).status, 200)
    const head = await get('/assets/a.txt', {}, 'HEAD')
    assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '10'])
    for (const [range, status, text] of [
      ['bytes=0-0', 206, '0'],
      ['bytes=8-', 206, '89'],
      ['bytes=-3', 206, '789'],
      ['bytes=5-999', 206, '56789'],
      ['bytes=0-1,4-5', 200, '0123456789'],
      ['bytes=5-2', 200, '0123456789'],
      ['bytes=-0', 416],
      ['bytes=10-', 416],
      ['bytes=99999999999999999999-', 416],
      ['lines=1-2', 200, '0123456789'],
      ['bytes=', 200, '0123456789'],
      ['bytes=a-b', 200, '0123456789'],
    ] as const) {
      const answer = await get('/assets/a.txt', { range })
      assert.equal(answer.status, status, range)
      if (text !== undefined) assert.equal(answer.text, text, range)
      if (status === 206) assert.match(String(answer.headers['content-range']), /^bytes \d+-\d+\/10$/)
      if (status === 416) assert.equal(answer.headers['content-range'], 'bytes */10')
    }
    assert.equal((await get('/assets/a.txt', { range: 'bytes=0-0', 'if-range': etag })).status, 206)
    assert.equal((await get('/assets/a.txt', { range: 'bytes=0-0', 'if-range': '"old"' })).status, 200)
  })

  test('texts are compressed for callers that accept it, each coding with an ETag of its own', async () => {
    const plain = await get('/assets/script.js')
    assert.equal(plain.text, script)
    assert.equal(plain.headers['vary'], 'Accept-Encoding')
    const fetchCoded = async (coding: string) => {
      const response = await fetch(`${server.url}/assets/script.js`, { headers: { 'accept-encoding': coding } })
      return { headers: response.headers, text: await response.text() }
    }
    for (const coding of ['br', 'gzip']) {
      const { headers, text } = await fetchCoded(coding)
      assert.equal(headers.get('content-encoding'), coding)
      assert.equal(text, script)
      assert.equal(headers.get('etag'), String(plain.headers['etag']).replace(/"$/, `;${coding}"`))
      const known = { 'accept-encoding': coding, 'if-none-match': headers.get('etag')! }
      assert.equal((await get('/assets/script.js', known)).status, 304)
      assert.equal((await get('/assets/script.js', { 'if-none-match': headers.get('etag')! })).status, 200)
    }
    const part = await get('/assets/script.js', { 'accept-encoding': 'br', range: 'bytes=0-6' })
    assert.deepEqual([part.status, part.text, part.headers['content-encoding']], [206, 'console', undefined])
  })

  test('no path leads out of the folder, to hidden files or to what a route has', async () => {
    for (const path of [
      '/assets/.env',
      '/assets/%2eenv',
      '/assets/.well/known',
      '/assets/../waypost.yml',
      '/assets/..%2fwaypost.yml',
      '/assets/%2e%2e/waypost.yml',
      '/assets/..\\waypost.yml',
      '/assets/a.txt%00',
      '/assets/a.txt%00.html',
      '/assets//a.txt',
      '/assets/sub%2findex.html',
      '/assets/sub/./index.html',
      '/assets/a.txt/',
      '/assets/A.TXT',
      '/assets/constructor',
      `/assets/${'x'.repeat(5000)}`,
      '/assets/%ff',
      '/waypost.yml',
      '/src/taken.ts',
    ])
      assert.match(String((await get(path)).status), /^40[04]$/, path)
    assert.deepEqual((await get('/assets/taken.txt')).body, { from: 'the route' })
    assert.deepEqual((await get('/item/7')).body, { from: 'the route' })
    assert.equal((await get('/assets/posted')).status, 405, 'a path of a route is no file')
    assert.doesNotMatch((await get('/docs/', page)).text, /not reachable/)
  })

  test('folders have an index, paths of apps a fallback, and other methods are not allowed', async () => {
    const sub = await get('/assets/sub?x=1')
    assert.deepEqual([sub.status, sub.headers['location']], [302, './sub/?x=1'])
    assert.equal((await get('/assets/sub/')).text, '<p>sub</p>')
    assert.match((await get('/', page)).text, /script src/)
    assert.match((await get('/some/page', page)).text, /script src/)
    assert.equal((await get('/some/data')).status, 404, 'only browsers that show a page get the fallback')
    assert.equal((await get('/some/data', { accept: '*/*' })).status, 404)
    assert.equal((await get('/some/page', page, 'POST')).status, 404)
    const post = await get('/assets/a.txt', {}, 'DELETE')
    assert.deepEqual([post.status, post.headers['allow']], [405, 'GET, HEAD'])
    const options = await get('/assets/a.txt', {}, 'OPTIONS')
    assert.deepEqual([options.status, options.headers['allow']], [204, 'GET, HEAD, OPTIONS'])
    assert.equal((await get('/assets/deep/x.txt')).text, 'deep', 'the longest path wins')
  })

  test('change with a release, and are not in /openapi.json', async () => {
    assert.doesNotMatch((await get('/openapi.json')).text, /a\.txt|script\.js/)
    await server.deploy({ 'public/a.txt': 'changed', 'public/new.txt': 'new' })
    assert.equal((await get('/assets/a.txt')).text, 'changed')
    assert.equal((await get('/assets/new.txt')).text, 'new')
  })
})
