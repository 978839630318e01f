import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const results = {
  fraction: '{ i: 1.5 }',
  digits: `{ i: '5' }`,
  nothing: '{ i: null }',
  missing: '{ n: 1 }',
  text: '{ i: 1, n: null, d: new Date(0), t: null, e: null, x: { at: new Date(0), no: undefined }, secret: 1 }',
  empty: `{ i: 1, d: '' }`,
  invalid: '{ i: 1, d: new Date(NaN) }',
  object: '{ i: 1, t: {} }',
  word: `{ i: 1, b: 'yes' }`,
  other: `{ i: 1, e: 'c' }`,
  long: `{ i: 1, e: 'a', s: 'long' }`,
  method: '{ i: 1, x: [() => 1, undefined] }',
  large: '{ i: 1n }',
  nan: '{ i: 1, list: [{ n: 1 }, { n: NaN }] }',
  infinite: '{ i: -Infinity, n: Infinity }',
  both: `{ i: 'a', list: [{ n: NaN }] }`,
  withNull: `{ i: 1, s: null, list: [{ n: NaN }] }`,
}

const yml = `
routes:
  /result/:kind:
    path: { kind: { enum: [${Object.keys(results).join()}] } }
    methods: { GET: { public: true, response: Result, action: src/result.ts } }
schema:
  Result:
    type: object
    required: [i]
    properties:
      i: { type: integer }
      n: { type: [number, 'null'] }
      d: { type: string, format: date-time }
      t: { type: [string, 'null'] }
      b: { type: boolean }
      e: { enum: [a, b, null] }
      s: { type: string, maxLength: 3 }
      x: {}
      list: { type: array, items: { type: object, properties: { n: { type: number, minimum: 0 } } } }
`

for (const isDevelopment of [false, true]) {
  describe(`a result of an action ${isDevelopment ? 'in development' : 'on a server'}`, () => {
    let server: ProjectServer
    before(async () => {
      const kinds = Object.entries(results).map(([kind, result]) => `${kind}: () => (${result})`)
      const files = {
        'waypost.yml': yml,
        'src/result.ts': actionFile(`return kinds[request.params.kind]()`, `const kinds: any = { ${kinds.join()} }`),
      }
      server = await openProjectServer({ files, isDevelopment })
    })
    after(() => server[Symbol.asyncDispose]())
    const get = (kind: string, undescribed?: string) =>
      send(server.port, { path: `/result/${kind}`, ...(undescribed !== undefined && { undescribed }) })

    for (const [kind, reason] of [
      ['fraction', /result\/i must be integer/],
      ['digits', /result\/i must be integer/],
      ['nothing', /result\/i must be integer/],
      ['missing', /result\/i is required/],
      ['empty', /result\/d must match format "date-time"/],
      ['invalid', /result\/d must be string/],
      ['object', /result\/t must be string or null/],
      ['word', /result\/b must be boolean/],
      ['other', /result\/e must be one of "a", "b", null/],
      ['long', /result\/s must NOT have more than 3 characters/],
      ['large', /BigInt/],
      ['both', /result\/i must be integer/],
      ['withNull', /result\/s must be string/],
    ] as const) {
      test(`is an error if its schema does not allow it: ${results[kind]}`, async () => {
        const { status, body } = await get(kind)
        assert.equal(status, 500)
        const id = /request (\w+)\.$/.exec(body.detail)?.[1]
        const line = server.logs.find((one) => one['reqId'] === id)
        assert.match(String((line?.['err'] as Error | undefined)?.message), reason)
      })
    }

    test('is sent in its JSON form', async () => {
      const time = new Date(0).toISOString()
      assert.deepEqual((await get('text')).body, { i: 1, n: null, d: time, t: null, e: null, x: { at: time } })
      assert.deepEqual((await get('method')).body, { i: 1, x: [null, null] })
    })

    const unlikely = 'null in place of NaN is not part of the schema'
    test('has null for numbers that JSON does not have, even if its schema forbids null; logged once', async () => {
      for (let count = 0; count < 3; count += 1) {
        const { status, body } = await get('nan', unlikely)
        assert.deepEqual([status, body], [200, { i: 1, list: [{ n: 1 }, { n: null }] }])
        assert.deepEqual((await get('infinite', unlikely)).body, { i: null, n: null })
      }
      const lines = server.logs.filter(({ msg }) => /NaN or infinite/.test(String(msg)))
      assert.deepEqual(
        lines.map(({ action, field }) => [action, field]),
        [['src/result.ts', 'list/1/n']],
      )
    })
  })
}
