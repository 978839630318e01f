import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf, makeBody, partsOf } from '../../src/backend/ui/try/body-values.ts'
import { nameFile } from '../../src/backend/ui/try/name-file.ts'
import { tryItTexts } from '../../src/backend/ui/try/try-texts.ts'
import { languages, writeCode } from '../../src/backend/ui/try/write-code.ts'

const schema = {
  type: 'object',
  required: ['title', 'cover'],
  properties: {
    title: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    meta: { $ref: 'schema:///Meta' },
    cover: { type: 'file', types: ['image/png', 'image/jpeg'], maxSize: 10 },
    pages: { type: 'array', items: { type: 'string', format: 'binary', contentMediaType: 'image/png' } },
  },
}
const named = { Meta: { type: 'object', properties: {} } }
const multipart = { type: 'multipart/form-data', schema }

test('the parts of a body have fields of their kind, in a definition and in OpenAPI', () => {
  assert.deepEqual(
    partsOf(multipart, named).map(({ name, kind, isRequired, accept }) => [name, kind, isRequired, accept]),
    [
      ['title', 'text', true, undefined],
      ['tags', 'list', false, undefined],
      ['meta', 'json', false, undefined],
      ['cover', 'file', true, 'image/png,image/jpeg'],
      ['pages', 'files', false, 'image/png'],
    ],
  )
  assert.equal(kindOf({ type: 'application/vnd.a+json', schema: true }), 'json')
  assert.equal(kindOf({ type: '*/*', schema: {} }), 'json')
  assert.equal(kindOf({ type: 'image/png' }), 'bytes')
  assert.equal(kindOf({ type: 'image/png', schema: { type: 'string', format: 'binary' } }), 'bytes')
  assert.equal(kindOf({ type: 'text/plain', schema: { type: 'string' } }), 'text')
})

const cover = new File(['x'], "c'over.png", { type: 'image/png' })
const values = {
  type: 'multipart/form-data',
  texts: { title: 'Sea', tags: 'a\nb', meta: '{"n":1}', other: 'x' },
  files: { cover: [cover], pages: [cover, cover] },
}

test('a file of a definition says what it may be', () => {
  const { maxSize, types } = partsOf(multipart, named).find(({ name }) => name === 'cover')!
  assert.equal(tryItTexts.fileLimits(maxSize!, types), 'At most 10b; image/png or image/jpeg')
  assert.equal(tryItTexts.fileLimits(5 * 1024 ** 2), 'At most 5mb')
  assert.equal(tryItTexts.fileLimits(300 * 1024), 'At most 300kb')
})

test('a response is saved under the name that it has, or by its path and type', () => {
  const named = (value: string) => nameFile('/album/1/zip', [['content-disposition', value], ['content-type', 'application/zip']]) // prettier-ignore
  assert.equal(named('attachment; filename="album.zip"'), 'album.zip')
  assert.equal(named(`inline; filename="h_he.zip"; filename*=UTF-8''h%C3%B6he.zip`), 'höhe.zip')
  assert.equal(named(`attachment; filename*=UTF-8''..%2F..%2Fa.zip`), 'a.zip')
  for (const value of ['attachment', 'attachment; filename=""', `attachment; filename*=UTF-8''%ff`, ''])
    assert.equal(named(value), 'zip.zip', value)
  assert.equal(nameFile('/text?a=b/c', [['content-type', 'text/plain']]), 'text.txt')
  assert.equal(nameFile('/', []), 'response.bin')
})

test('what was typed and chosen is sent as a form', () => {
  const { payload, contentType } = makeBody(multipart, values, named)
  assert.ok(payload instanceof FormData)
  assert.equal(contentType, undefined)
  assert.deepEqual(
    [...payload].map(([name, value]) => [name, value instanceof File ? value.name : value]),
    [
      ['title', 'Sea'],
      ['tags', 'a'],
      ['tags', 'b'],
      ['meta', '{"n":1}'],
      ['cover', cover.name],
      ['pages', cover.name],
      ['pages', cover.name],
    ],
  )
  const form = makeBody({ ...multipart, type: 'application/x-www-form-urlencoded' }, { ...values, files: {} }, named)
  assert.ok(form.payload instanceof URLSearchParams)
  assert.equal(form.payload.toString(), 'title=Sea&tags=a&tags=b&meta=%7B%22n%22%3A1%7D')
  const bytes = makeBody({ type: 'image/png' }, { ...values, files: { '': [cover] } }, named)
  assert.deepEqual([bytes.payload, bytes.contentType], [cover, 'image/png'])
})

test('code sends the same', () => {
  const request = { method: 'POST', url: 'http://a/b', body: undefined, hasToken: false }
  const { code } = makeBody(multipart, { ...values, files: { cover: [cover] } }, named)
  const [curl, javascript, python] = languages.map((language) => writeCode(language, { ...request, code }))
  assert.equal(
    curl,
    String.raw`curl -X POST 'http://a/b' \
  --form-string 'title=Sea' \
  --form-string 'tags=a' \
  --form-string 'tags=b' \
  --form-string 'meta={"n":1}' \
  -F 'cover=@c'\''over.png;type=image/png'`,
  )
  assert.match(
    javascript!,
    /^import \{ openAsBlob \} from 'node:fs'\n\nconst form = new FormData\(\)\nform\.append\("title", "Sea"\)\n/,
  )
  assert.match(
    javascript!,
    /form\.append\("cover", await openAsBlob\("c'over\.png", \{ type: "image\/png" \}\), "c'over\.png"\)/,
  )
  assert.match(javascript!, /\n {2}body: form,\n/)
  assert.match(
    python!,
    /files=\[\("title", \(None, "Sea"\)\), .*\("cover", \("c'over\.png", open\("c'over\.png", "rb"\), "image\/png"\)\)\],/,
  )
  const text = makeBody(
    { type: 'text/csv', schema: { type: 'string' } },
    { ...values, texts: { '': 'a,b' } },
    named,
  ).code
  assert.match(writeCode('curl', { ...request, code: text }), /-H 'Content-Type: text\/csv' \\\n {2}--data-raw 'a,b'$/)
  assert.match(
    writeCode('javascript', { ...request, code: text }),
    /'Content-Type': "text\/csv",\n {2}\},\n {2}body: "a,b",/,
  )
  const file = makeBody({ type: 'image/png' }, { ...values, files: { '': [cover] } }, named).code
  assert.match(
    writeCode('python', { ...request, code: file }),
    /headers=\{"Content-Type": "image\/png"\},\n {4}data=open\("c'over\.png", "rb"\),/,
  )
})
