import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import { compile } from './compile.ts'
import { emptyDefinition, makeMethod } from './project.ts'
import { at } from './types-of.ts'

const multipart = {
  type: 'object',
  required: ['title', 'cover'],
  properties: {
    title: { type: 'string' },
    cover: { type: 'file', maxSize: 1 },
    pages: { type: 'array', maxItems: 2, items: { type: 'file', maxSize: 1 } },
  },
}
const definition: Definition = {
  ...emptyDefinition,
  routes: [
    {
      path: '/one',
      at,
      methods: [
        makeMethod('POST', 'src/a.ts', { requestTypes: { 'multipart/form-data': { schema: multipart } } }),
        makeMethod('PUT', 'src/a.ts', {
          requestTypes: {
            'application/json': { schema: { type: 'number' } },
            'image/png': {},
            'text/plain': { schema: { type: 'string' } },
          },
          raw: true,
        }),
        makeMethod('PATCH', 'src/a.ts', { request: { type: 'number' } }),
      ],
    },
  ],
}

const action = (key: string, body: string) => `import type { Action, Request } from 'waypost'
export default class One implements Action<'${key}'> {
  async handle(request: Request<'${key}'>) {
    ${body}
    return {}
  }
}
`

async function problemsOf(key: string, body: string): Promise<readonly string[]> {
  return compile({
    '.waypost/types.d.ts': makeTypes(definition, { tables: {}, clientTypes: {} }),
    'src/a.ts': action(key, body),
  })
}

test('files are File objects', async () => {
  const body = `const { title, cover, pages } = request.body
    const names: string[] = [title, cover.name, ...(pages ?? []).map((page) => page.name)]
    const type: 'multipart/form-data' | undefined = request.contentType
    const bytes: Uint8Array = await cover.bytes()
    void [names, type, bytes]`
  assert.deepEqual(await problemsOf('POST /one', body), [])
  assert.equal((await problemsOf('POST /one', 'void request.body.cover.length')).length, 1)
})

test('the type of a body depends on its content type, and raw are bytes', async () => {
  const body = `const raw: Uint8Array = request.raw
    void raw
    switch (request.contentType) {
      case 'application/json': {
        const number: number = request.body
        void number
        break
      }
      case 'image/png':
        for await (const chunk of request.body) void chunk.length
        break
      case 'text/plain':
        void request.body.trim()
    }`
  assert.deepEqual(await problemsOf('PUT /one', body), [])
  assert.equal((await problemsOf('PUT /one', 'void request.body.trim()')).length, 1)
})

test('JSON without content stays as it is', async () => {
  assert.deepEqual(await problemsOf('PATCH /one', 'const number: number = request.body; void number'), [])
})
