import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeBody } from '../../src/testing/write-body.ts'

const json = { 'content-type': 'application/json' }

test('bodies are sent as they are, as forms with files, or as JSON', () => {
  assert.deepEqual(writeBody(undefined), { body: undefined, headers: {} })
  assert.deepEqual(writeBody({ a: 1 }, { x: 'y' }), { body: '{"a":1}', headers: { ...json, x: 'y' } })
  assert.deepEqual(writeBody(null), { body: 'null', headers: json })
  assert.deepEqual(writeBody('a'), { body: '"a"', headers: json })
  assert.deepEqual(writeBody('a', { 'Content-Type': 'text/plain' }), {
    body: 'a',
    headers: { 'Content-Type': 'text/plain' },
  })
  const bytes = new Uint8Array([1])
  assert.deepEqual(writeBody(bytes), { body: bytes, headers: { 'content-type': 'application/octet-stream' } })
  assert.deepEqual(writeBody(bytes, { 'content-type': 'image/png' }).headers, { 'content-type': 'image/png' })
  assert.deepEqual(writeBody(new Blob([], { type: 'image/png' })).headers, { 'content-type': 'image/png' })
  const [form, parameters] = [new FormData(), new URLSearchParams()]
  assert.deepEqual(writeBody(form), { body: form, headers: {} })
  assert.deepEqual(writeBody(parameters), { body: parameters, headers: {} })
})

test('an object with a file becomes a form', async () => {
  const file = new File(['x'], 'a.txt')
  const { body, headers } = writeBody({
    a: 'text',
    b: 1,
    c: [true, 'y'],
    d: { n: 1 },
    e: undefined,
    f: file,
    g: [file, file],
  })
  assert.deepEqual(headers, {})
  assert.ok(body instanceof FormData)
  const entries = [...body].map(([name, value]) => [name, value instanceof File ? `file ${value.name}` : value])
  assert.deepEqual(entries, [
    ['a', 'text'],
    ['b', '1'],
    ['c', 'true'],
    ['c', 'y'],
    ['d', '{"n":1}'],
    ['f', 'file a.txt'],
    ['g', 'file a.txt'],
    ['g', 'file a.txt'],
  ])
})
