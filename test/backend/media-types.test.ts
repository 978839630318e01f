import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeType } from '../../src/backend/ui/edit/change-type.ts'
import { listMoreKeywords, readRows } from '../../src/backend/ui/edit/schema-rows.ts'
import {
  addType,
  changeSchema,
  isMediaType,
  offeredTypes,
  removeType,
  schemaOfOnlyJson,
  toContent,
} from '../../src/backend/ui/editors/media-types.ts'

describe('the media types of a body', () => {
  test('are a list without schemas, and a map as soon as one has a schema', () => {
    assert.deepEqual(addType(['image/png'], 'image/jpeg', 'response'), ['image/png', 'image/jpeg'])
    assert.deepEqual(addType(['image/png'], 'text/csv', 'response'), { 'image/png': null, 'text/csv': { type: 'string' } }) // prettier-ignore
    assert.deepEqual(addType({ 'application/json': 'Todo' }, 'text/event-stream', 'response'), {
      'application/json': 'Todo',
      'text/event-stream': { type: 'object' },
    })
    assert.deepEqual(addType(undefined, 'text/event-stream', 'request'), { 'text/event-stream': null })
    assert.deepEqual(addType([], 'text/plain', 'request'), { 'text/plain': { type: 'string', maxLength: 10_000 } })
    assert.deepEqual(removeType({ 'image/png': null, 'text/csv': { type: 'string' } }, 'text/csv'), { 'image/png': null }) // prettier-ignore
    assert.deepEqual(removeType(['image/png', 'image/jpeg'], 'image/png'), ['image/jpeg'])
    assert.deepEqual(changeSchema(['text/plain'], 'text/plain', { type: 'string' }), { 'text/plain': { type: 'string' } }) // prettier-ignore
  })

  test('begin with the schema of its JSON, and can become it again', () => {
    const content = toContent('Todo')
    assert.deepEqual(content, { content: { 'application/json': 'Todo' } })
    assert.equal(schemaOfOnlyJson(content['content']), 'Todo')
    assert.equal(schemaOfOnlyJson({ 'application/json': 'Todo', 'text/csv': null }), undefined)
    assert.equal(schemaOfOnlyJson(['image/png']), undefined)
  })

  test('that are offered are media types; others are told', () => {
    for (const type of [...offeredTypes.request, ...offeredTypes.response]) assert.ok(isMediaType(type), type)
    for (const text of ['', 'png', 'image/*', 'text/plain; charset=utf-8', 'Image/PNG'])
      assert.ok(!isMediaType(text), text)
  })
})

describe('a file of a form', () => {
  test('is a type with a size and media types, and keeps its description', () => {
    const file = changeType(
      { type: 'string', maxLength: 3, default: 'a', readOnly: true, description: 'A' },
      { kind: 'file' },
    )
    assert.deepEqual(file, { type: 'file', maxSize: '5mb', description: 'A' })
    const list = changeType({ ...file, types: ['image/png'] }, { kind: 'array' })
    assert.deepEqual(list, {
      type: 'array',
      items: { type: 'file', maxSize: '5mb', types: ['image/png'] },
      maxItems: 10,
      description: 'A',
    })
    assert.deepEqual(changeType(file, { kind: 'string' }), { type: 'string', description: 'A' })
    const row = readRows({ type: 'object', properties: { cover: file } }).children[0]!
    assert.equal(row.types[0]!.kind, 'file')
    assert.deepEqual(listMoreKeywords(row), [])
  })
})
