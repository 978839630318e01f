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

/** The key of a method, the code of its action, and how many problems the compiler finds. */
const samples: readonly [what: string, key: string, body: string, problems: number][] = [
  [
    'files are File objects',
    'POST /one',
    `const { title, cover, pages } = request.body
    const names: string[] = [title, cover.name, ...(pages ?? []).map((page) => page.name)]
    const type: 'multipart/form-data' | undefined = request.contentType
    const bytes: Uint8Array = await cover.bytes()
    void [names, type, bytes]`,
    0,
  ],
  ['a file is no text', 'POST /one', 'void request.body.cover.length', 1],
  [
    'the type of a body depends on its content type, and raw are bytes',
    'PUT /one',
    `const raw: Uint8Array = request.raw
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
    }`,
    0,
  ],
  ['a body of any type is no text', 'PUT /one', 'void request.body.trim()', 1],
  ['JSON without content stays as it is', 'PATCH /one', 'const number: number = request.body; void number', 0],
]

test('a body has the type of its content', async () => {
  const files = samples.map(([, key, body], index) => [`src/s${index}.ts`, action(key, body)] as const)
  const types = makeTypes(definition, { tables: {}, clientTypes: {} })
  const problems = await compile({ ...Object.fromEntries(files), '.waypost/types.d.ts': types })
  const found = samples.map(([what], index) => [
    what,
    problems.filter((line) => line.startsWith(`src/s${index}.ts`)).length,
  ])
  assert.deepEqual(
    found,
    samples.map(([what, , , count]) => [what, count]),
    problems.join('\n'),
  )
})
