import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { generateClient } from '../../src/project/index.ts'
import { checkout } from '../support/cli.ts'
import { actionFile, openProjectServer, writeFiles } from '../support/project-server.ts'

const get = (types: string, file: string) =>
  `{ methods: { GET: { public: true, response: { content: ${types} }, action: src/${file}.ts } } }`
const files = {
  'waypost.yml': `
schema:
  Order: { type: object, required: [id], properties: { id: { type: integer } } }
routes:
  /image: ${get('[image/png, image/jpeg]', 'image')}
  /table: ${get('{ application/json: { type: array, items: { $ref: schema:///Order } }, text/csv: { type: string }, text/event-stream: Order }', 'table')}
  /line: ${get('{ application/jsonl: Order }', 'line')}
  /order/:how/feed:
    path: { how: { type: string } }
    methods:
      GET: { operationId: watchFeed, public: true, response: { content: { text/event-stream: Order } }, action: src/feed.ts }
      POST: { operationId: read_body, public: true, request: Order, response: { content: { text/event-stream: Order } }, action: src/feed.ts }
`,
  'src/image.ts': actionFile(
    `return context.file(new File([new Uint8Array([137, 80, 255])], 'a.png', { type: 'image/png' }))`,
  ),
  'src/table.ts': actionFile(
    `if (context.accepts === 'text/csv') return context.respond(200, 'id\\n1\\n', { 'content-type': 'text/csv' })
     if (context.accepts === 'application/json') return [{ id: 1 }]
     return (async function* () { yield { id: 1 } })()`,
  ),
  'src/line.ts': actionFile('return [{ id: 1 }, { id: 2 }]'),
  // Sends two events for each connection; the first two connections then break.
  'src/feed.ts': actionFile(
    `const { how } = request.params
     const since = Number(request.lastEventId?.slice(2) ?? 0)
     if (how === 'refused') throw context.problem(403, 'Not yours')
     return (async function* () {
       for (let id = since + 1; id <= since + 2; id += 1)
         yield how === 'ids' ? { event: 'new', id: 'ü:' + id, data: { id } } : { id }
       if (since < 4) throw new Error('the connection breaks')
     })()`,
  ),
}

/** What users write, with types. */
const use = `import * as Oazapfts from '@oazapfts/runtime'
import { readBody, defaults, getImage, getLine, listTables, listTablesStream, watchFeed } from './client.ts'

export async function run(baseUrl: string) {
  defaults.baseUrl = baseUrl
  const image = await getImage()
  const part = await getImage({ range: 'bytes=1-1' })
  if (image.status !== 200 || part.status !== 206) throw new Error('no image')
  const bytes = [...(await image.data.bytes()), ...(await part.data.bytes())]
  const table = await listTables()
  const rows: { id: number }[] | string = table.status === 200 ? table.data : []
  const csv = await listTables({ headers: { accept: 'text/csv' } })
  const lines: number[] = []
  for await (const order of getLine()) lines.push(order.id)
  const streamed: number[] = []
  for await (const { data } of listTablesStream()) streamed.push(data.id)
  const seen: (number | string | undefined)[] = []
  for await (const { data, event, id } of watchFeed('ids')) seen.push(data.id, event, id)
  const first: number[] = []
  for await (const { data } of watchFeed('ids', { lastEventId: '日:2' })) {
    first.push(data.id)
    break
  }
  for await (const { data } of watchFeed('ids', {}, { headers: { 'last-event-id': 'u:3' } })) {
    first.push(data.id)
    break
  }
  const count = async (stream: AsyncIterable<{ data: { id: number } }>) => {
    let events = 0
    try {
      for await (const { data } of stream) events += data.id > 0 ? 1 : 0
      return [events, 'finished']
    } catch (error) {
      return [events, error instanceof Oazapfts.HttpError ? error.status : 'broken']
    }
  }
  // @ts-expect-error not in the schema
  void (async () => { for await (const { data } of watchFeed('ids')) data.name })
  return {
    bytes, rows, csv: csv.status === 200 ? csv.data : '', lines, streamed, seen, first,
    withoutIds: await count(watchFeed('plain')),
    posted: await count(readBody('ids', { id: 1 })),
    refused: await count(watchFeed('refused')),
  }
}
`

test('the generated client gets a Blob for bytes, a string for text, and what a stream sends, also after it broke', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  await using server = await openProjectServer({ files })
  try {
    await writeFiles(folder, files)
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    const text = await generateClient({ folder, variables: {}, onDiagnostics: () => undefined })
    await writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ compilerOptions, files: ['use.ts'] }),
      'client.ts': text.replace('// @ts-nocheck\n', ''),
    })
    await writeFile(path.join(folder, 'use.ts'), use)
    const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
    assert.equal(execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' }), '')
    const { run } = (await import(pathToFileURL(path.join(folder, 'use.ts')).href)) as {
      run(url: string): Promise<Record<string, unknown>>
    }
    const { seen, ...others } = await run(server.url)
    assert.deepEqual(others, {
      bytes: [137, 80, 255, 80],
      rows: [{ id: 1 }],
      csv: 'id\n1\n',
      lines: [1, 2],
      streamed: [1],
      first: [3, 4],
      withoutIds: [2, 'broken'],
      posted: [2, 'broken'],
      refused: [0, 403],
    })
    assert.deepEqual(
      seen,
      [1, 2, 3, 4, 5, 6].flatMap((id) => [id, 'new', `ü:${id}`]),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  module: 'nodenext',
  types: [],
  skipLibCheck: true,
  allowImportingTsExtensions: true,
}
