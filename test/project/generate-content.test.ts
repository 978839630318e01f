import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateProject } from '../../src/project/index.ts'
import { assertValid, openProject } from './generated-project.ts'

test('generate:route writes the media types of bodies and responses', async () => {
  await using project = await openProject({}, 'empty')
  await project.route('POST /order --scopes order')
  await project.route('PUT /order --request multipart/form-data,application/json --response application/json')
  await project.route('PATCH /order --request application/x-www-form-urlencoded,text/csv --response text/plain')
  await project.route('GET /order --response application/json,text/csv,text/event-stream')
  await project.route('GET /order/:order_id --scopes order --response image/png,image/jpeg')
  await project.route('PUT /order/:order_id --request application/zip --response application/json,application/pdf')
  await project.route('DELETE /order/:order_id --response application/jsonl')
  await project.route('GET /visitor --scopes order --response text/event-stream')
  const text = await project.read('waypost.yml')
  const isBody = (line: string) => /^ {8}(?:request|response|body_limit)|^ {10}/.test(line)
  const [routes = ''] = text.split('\nschema:')
  assert.equal(routes.slice(routes.indexOf('      PUT:')).split('\n').filter(isBody).join('\n'), expected)
  assert.doesNotMatch(text, /Visitor-Collection/)
  await assertValid(project)
})

test('generate:route refuses what is not a media type, and writes nothing', async () => {
  await using project = await openProject({}, 'empty')
  const before = await project.files()
  await assert.rejects(project.route('GET /order --public --response image'), {
    message: '"image" is not a media type',
  })
  await assert.rejects(project.route('POST /order --public --request IMAGE/PNG'), {
    hint: 'Write image/png, in lower case and without parameters',
  })
  await assert.rejects(project.route('GET /order --public --request text/csv'), { message: 'GET has no request body' })
  assert.deepEqual(await project.files(), before)
  assert.deepEqual((await validateProject(project.folder)).diagnostics, [])
})

const expected = `        request:
          content:
            multipart/form-data:
              type: object
              required: [name, file]
              additionalProperties: false
              properties:
                name: { type: string, minLength: 1, maxLength: 64 }
                file: { type: file, types: [image/png, image/jpeg], maxSize: 5mb }
            application/json: Order-Input
        body_limit: 6mb
        response: Order
        request:
          content:
            application/x-www-form-urlencoded: Order-Patch
            text/csv: { type: string, maxLength: 10000 }
        response: { content: { text/plain: { type: string } } }
          startIndex: { type: integer, minimum: 0, default: 0 }
        response:
          content:
            application/json: Order-Collection
            text/csv: { type: string }
            text/event-stream: Order
        response: { content: [image/png, image/jpeg] }
        request: { content: [application/zip] }
        response:
          content: { application/json: Order, application/pdf: null }
        response: { content: { application/jsonl: Order } }
        response: { content: { text/event-stream: Visitor } }`
