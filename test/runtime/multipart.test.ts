import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { mountDisk } from '../support/mount-disk.ts'
import { until } from '../support/until.ts'
import {
  bodyFiles,
  boundary,
  countBookCalls,
  filePart,
  listUploads,
  makePng,
  sendRaw,
  textPart,
  writeParts,
  type RawPart,
} from './bodies-site.ts'

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('a multipart body', () => {
  let server: ProjectServer
  before(async () => void (server = await openProjectServer({ files: bodyFiles })))
  after(() => server[Symbol.asyncDispose]())
  beforeEach(() => until('no temporary file is left', () => listUploads().length === 0))

  async function post(body: Buffer | FormData, headers: Record<string, string> = {}) {
    const type = body instanceof FormData ? {} : { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const response = await fetch(`${server.url}/book`, {
      method: 'POST',
      body: body as never,
      headers: { ...type, ...headers },
    })
    return { status: response.status, body: (await response.json()) as any } // oxlint-disable-line typescript/no-explicit-any
  }
  const postParts = (parts: readonly RawPart[]) => post(writeParts(parts))
  const noFiles = () => until('no temporary file is left', () => listUploads().length === 0)

  test('becomes texts, JSON and files, small ones and large ones', async () => {
    const [small, large] = [makePng(), makePng(2_000_000)]
    const form = new FormData()
    form.set('title', 'Sea')
    form.set('year', '1999')
    form.append('tags', 'a')
    form.append('tags', 'b')
    form.set('meta', JSON.stringify({ n: 1 }))
    form.append('notes', JSON.stringify({ x: 1 }))
    form.append('notes', new Blob([JSON.stringify({ y: 1 })], { type: 'application/json' }))
    form.set('cover', new File([large], 'cöver.png', { type: 'image/png' }))
    form.append('pages', new File([small], 'p1.bin'))
    form.append('pages', new File(['second'], 'p2.txt', { type: 'text/plain' }))
    const { status, body } = await post(form)
    assert.deepEqual(
      { status, body },
      {
        status: 200,
        body: {
          title: 'Sea',
          year: 1999,
          tags: ['a', 'b'],
          meta: { n: 1 },
          notes: [{ x: 1 }, { y: 1 }],
          type: 'multipart/form-data',
          cover: { name: 'cöver.png', type: 'image/png', size: 2_000_000, hash: hashOf(large), isFile: true },
          pages: [
            { name: 'p1.bin', type: 'application/octet-stream', size: small.length, hash: hashOf(small), isFile: true },
            { name: 'p2.txt', type: 'text/plain', size: 6, hash: hashOf(Buffer.from('second')), isFile: true },
          ],
        },
      },
    )
    await noFiles()
  })

  test('may list JSON in one part, has lists for single values, and ignores fields without a file', async () => {
    const empty = {
      headers: ['Content-Disposition: form-data; name="pages"; filename=""', 'Content-Type: application/octet-stream'],
      body: '',
    }
    const { body } = await postParts([
      textPart('title', 'A'),
      textPart('notes', '[{"a":1},{"b":2}]'),
      textPart('tags', 'one'),
      empty,
      filePart('cover', makePng()),
    ])
    assert.deepEqual([body.notes, body.tags, body.pages], [[{ a: 1 }, { b: 2 }], ['one'], undefined])
  })

  const title = textPart('title', 'A')
  const cover = filePart('cover', makePng())
  const problems: readonly (readonly [name: string, parts: readonly RawPart[], status: number, detail: RegExp])[] = [
    ['a missing file', [title], 400, /^body\/cover is required$/],
    ['a missing text', [cover], 400, /^body\/title is required$/],
    ['a repeated file', [title, cover, cover], 400, /^body\/cover must not be repeated$/],
    ['a repeated text', [title, title, cover], 400, /^body\/title must not be repeated$/],
    [
      'too many files',
      [title, cover, ...Array(5).fill(filePart('pages', 'x'))],
      400,
      /^body\/pages must NOT have more than 4 items$/,
    ],
    [
      'a file of another type',
      [title, filePart('cover', 'GIF89a', { type: 'image/gif' })],
      400,
      /^body\/cover must be a file of type image\/png or image\/jpeg, not image\/gif$/,
    ],
    [
      'a file that is not what it says',
      [title, filePart('cover', 'x'.repeat(50))],
      400,
      /^body\/cover does not begin like a file of type image\/png$/,
    ],
    [
      'an empty picture',
      [title, filePart('cover', '')],
      400,
      /^body\/cover does not begin like a file of type image\/png$/,
    ],
    [
      'a text in place of a file',
      [title, textPart('cover', 'x')],
      400,
      /^body\/cover must be a file, with a filename$/,
    ],
    ['a file in place of a text', [filePart('title', 'x'), cover], 400, /^body\/title must be a text, not a file$/],
    ['an unknown text', [title, cover, textPart('other', 'x')], 400, /^body\/other is unknown$/],
    ['an unknown file', [title, cover, filePart('other', 'x')], 400, /^body\/other must be a text, not a file$/],
    [
      'a text that is too long for its schema',
      [textPart('title', 'x'.repeat(81)), cover],
      400,
      /^body\/title must NOT have more than 80 characters$/,
    ],
    ['a text that is no integer', [title, textPart('year', '1e3'), cover], 400, /^body\/year must be/],
    ['JSON of another type', [title, textPart('meta', '{"n":"1"}'), cover], 400, /^body\/meta\/n must be integer$/],
    ['invalid JSON', [title, textPart('meta', '{'), cover], 400, /^body\/meta is not valid: it cannot be parsed$/],
    [
      'deep JSON',
      [title, textPart('meta', '['.repeat(300)), cover],
      400,
      /^body\/meta is nested more than 100 levels deep$/,
    ],
    ['a prototype in JSON', [title, textPart('meta', '{"__proto__":1}'), cover], 400, /__proto__/],
    ['a prototype as a name', [textPart('__proto__', 'x'), title, cover], 400, /^body\/__proto__ is not a valid name$/],
    ['a text that is not UTF-8', [textPart('title', Buffer.from([0xff])), cover], 400, /^body\/title is not UTF-8$/],
    ['a NUL in a text', [textPart('title', 'a\0b'), cover], 400, /^body\/title contains a NUL character$/],
    [
      'a part without a name',
      [{ headers: ['Content-Disposition: form-data'], body: 'x' }],
      400,
      /^body is a part without a name$/,
    ],
    [
      'another encoding',
      [
        {
          headers: ['Content-Disposition: form-data; name="title"', 'Content-Transfer-Encoding: base64'],
          body: 'eA==',
        },
      ],
      400,
      /^body\/title has the unsupported encoding base64$/,
    ],
    [
      'a text of 70 KB',
      [textPart('title', 'x'.repeat(70_000)), cover],
      413,
      /^The part "title" is larger than 65536 bytes$/,
    ],
    [
      'a file that is too large',
      [title, filePart('cover', makePng(3 * 1024 ** 2 + 1))],
      413,
      /^The part "cover" is larger than 3145728 bytes$/,
    ],
    [
      'a small file that is too large',
      [title, cover, filePart('pages', Buffer.alloc(301 * 1024), { type: 'text/plain' })],
      413,
      /^The part "pages" is larger than 307200 bytes$/,
    ],
    ['10,000 parts', Array(10_000).fill(textPart('tags', 'x')), 413, /^The body has more than 10\d parts$/],
    ['10,000 files', Array(10_000).fill(filePart('pages', 'x')), 413, /^The body has more than 10\d parts$/],
  ]
  for (const [name, parts, status, detail] of problems) {
    test(`with ${name} is refused, and leaves nothing behind`, async () => {
      const response = await postParts(parts)
      const { errors, detail: whole } = response.body
      assert.equal(response.status, status)
      const [first] = errors ?? []
      assert.match(first === undefined ? whole : `${first.path} ${first.message}`, detail)
      await noFiles()
    })
  }

  test('has files whose names are only names', async () => {
    const nameOf = async (filename: string) => {
      const { body } = await postParts([title, filePart('cover', makePng(), { filename })])
      return body.cover?.name
    }
    assert.equal(await nameOf('../../etc/passwd'), 'passwd')
    assert.equal(await nameOf('C:\\\\fakepath\\\\a.png'), 'a.png')
    assert.equal(await nameOf('..'), 'file')
    assert.equal(await nameOf('a\\"b.png'), 'a"b.png')
    assert.equal(await nameOf('a\0\u0001b\u202Egnp.exe'), 'abgnp.exe')
    const long = await nameOf(`${'é'.repeat(5000)}.png`)
    assert.match(long, /^é+\.png$/)
    assert.equal(Buffer.byteLength(long) <= 255 && Buffer.byteLength(long) > 250, true)
  })

  test('that is cut off is refused', async () => {
    const whole = writeParts([title, filePart('cover', makePng(200_000))])
    for (const end of [50, 150, 100_000, whole.length - 20]) {
      const { status, body } = await post(whole.subarray(0, end))
      assert.deepEqual([status, body.detail], [400, 'The multipart body ends before its last part'], String(end))
    }
    const { status } = await post(Buffer.alloc(0))
    assert.equal(status, 400)
    await noFiles()
  })

  test('needs a boundary', async () => {
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(71)}`,
    ]) {
      const { status, body } = await post(writeParts([title]), { 'content-type': type })
      assert.equal(status, 400)
      assert.match(body.detail, /must name the boundary/)
    }
  })

  test('has one boundary, whatever other parameters contain', async () => {
    for (const [type, status] of [
      [`multipart/form-data; other="; boundary=${boundary}"`, 200],
      [`multipart/form-data; other="; boundary=${boundary}"; boundary=${'b'.repeat(300)}`, 200],
      ['multipart/form-data; other="; boundary=x"', 400],
    ] as const) {
      const body = writeParts([title, filePart('cover', makePng())])
      assert.equal((await post(body, { 'content-type': type })).status, status, type)
    }
  })

  test('whose boundary never comes is refused', async () => {
    const { status } = await post(Buffer.alloc(100_000, '-'))
    assert.equal(status, 400)
    const response = await post(Buffer.from(`--${boundary}\r\n${'X: y\r\n'.repeat(50_000)}`))
    assert.equal(response.status, 400)
  })

  test('that is larger than the limit of the method is refused before its end', async () => {
    const body = writeParts([title, cover, ...Array(4).fill(filePart('pages', Buffer.alloc(290_000)))])
    const large = Buffer.concat([Buffer.alloc(6 * 1024 ** 2, 'x'), Buffer.from('\r\n'), body])
    const response = await post(large)
    assert.deepEqual([response.status, response.body.detail], [413, 'The body is larger than 6291456 bytes'])
    // Without an announced length, which the parser would not look at.
    const chunked = await fetch(`${server.url}/book`, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as never)
    assert.equal(chunked.status, 413)
    await noFiles()
  })

  test('of which the server needs no more ends the connection, instead of reading on', async () => {
    const type = `multipart/form-data; boundary=${boundary}`
    const head = `POST /book HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 6000000\r\n\r\n`
    const received = await sendRaw(server.url, [
      head,
      writeParts([title, title, filePart('other', 'x')], ''),
      Buffer.alloc(2_000_000),
    ])
    assert.match(received, /^HTTP\/1\.1 400 /)
  })

  test('whose client goes away leaves nothing behind', async () => {
    const type = `multipart/form-data; boundary=${boundary}`
    const head = `POST /book HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 6000000\r\n\r\n`
    const received = await sendRaw(
      server.url,
      [head, writeParts([title, filePart('cover', makePng(1_000_000))], '')],
      true,
    )
    assert.doesNotMatch(received, /HTTP\/1\.1 5/)
    await noFiles()
    await until('the log says so', () =>
      server.logs.some(({ msg }) => msg === 'caller disconnected while sending a body'),
    )
  })

  test('that is shorter than announced is refused', async () => {
    const whole = writeParts([title, cover])
    const type = `multipart/form-data; boundary=${boundary}`
    const head = `POST /book HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${whole.length + 10}\r\n\r\n`
    const calls = countBookCalls()
    const received = await sendRaw(server.url, [head, whole], true)
    assert.doesNotMatch(received, /HTTP\/1\.1 [25]/)
    assert.equal(countBookCalls(), calls)
    await noFiles()
  })

  test('waits for space that others use', async () => {
    const upload = (bytes: number) => postParts([title, filePart('cover', makePng(bytes))])
    const answers = await Promise.all([upload(2_900_000), upload(2_900_000), upload(2_900_000)])
    const statuses = answers.map(({ status }) => status)
    assert.ok(
      statuses.every((status) => status === 200 || status === 503),
      String(statuses),
    )
    await noFiles()
    assert.equal((await upload(2_900_000)).status, 200)
  })

  test('gets 503 while no temporary file can be written', async () => {
    const upload = () => postParts([title, filePart('cover', makePng(200_000))])
    const { TMPDIR: before } = process.env
    process.env['TMPDIR'] = '/dev/null'
    try {
      const { status, body } = await upload()
      assert.deepEqual([status, body.type], [503, 'urn:waypost:errors#WP_RUNTIME_UPLOAD_SPACE'])
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
    assert.equal((await upload()).status, 200)
  })

  test('gets 503 while the disk is full, and leaves nothing on it', async (t) => {
    await using disk = await mountDisk('1m')
    if (disk === undefined) return t.skip('a file system cannot be mounted here')
    const upload = (bytes: number) => postParts([title, filePart('cover', makePng(bytes))])
    const { TMPDIR: before = tmpdir() } = process.env
    process.env['TMPDIR'] = disk.folder
    try {
      const answers = await Promise.all([upload(2_900_000), upload(2_900_000)])
      const seen = answers.map(({ status, body }) => [status, body.type])
      assert.deepEqual(
        seen,
        Array.from(answers, () => [503, 'urn:waypost:errors#WP_RUNTIME_UPLOAD_SPACE']),
      )
      const failed = server.logs.findLast(({ msg }) => msg === 'external system failed')
      assert.match(JSON.stringify(failed), /"code":"ENOSPC"/, 'the log says why')
      await noFiles()
      assert.equal((await upload(500_000)).status, 200)
      await noFiles()
    } finally {
      process.env['TMPDIR'] = before
    }
  })

  test('of another type is refused', async () => {
    const response = await post(Buffer.from('{}'), { 'content-type': 'application/json' })
    assert.deepEqual([response.status, response.body.detail], [415, 'The body must be multipart/form-data'])
  })
})
