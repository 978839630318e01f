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
  /album/zip: ${get('[application/zip]', 'zip')}
  /album/photo:
    methods:
      POST:
        public: true
        body_limit: 3mb
        request:
          content:
            multipart/form-data:
              type: object
              required: [title, photos]
              properties:
                title: { type: string }
                year: { type: integer }
                photos: { type: array, maxItems: 2, items: { type: file, maxSize: 1mb } }
        responses: { 201: { type: array, items: { $ref: schema:///Order } } }
        action: src/photo.ts
  /order/:how/feed:
    path: { how: { type: string } }
    methods:
      GET: { operationId: watchFeed, public: true, response: { content: { text/event-stream: Order } }, action: src/feed.ts }
      POST: { operationId: read_body, public: true, request: Order, response: { content: { text/event-stream: Order } }, action: src/feed.ts }
`,
  'src/image.ts': actionFile(
    `return context.file(new File([new Uint8Array([137, 80, 255])], 'a.png', { type: 'image/png' }))`,
  ),
  'src/zip.ts': actionFile(`return context.respond(200, new Blob(['PK']).stream())`),
  'src/photo.ts': actionFile('return request.body.photos.map(({ size }) => ({ id: size }))'),
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
import {
  createAlbumPhoto, readBody, defaults, getAlbumZip, getImage, getLine, listTables, listTablesStream, watchFeed,
} from './client.ts'

/** Whether two types are the same. */
type Is<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false
type DataOf<Result, Status> = Result extends { status: infer Of; data: infer Data } ? Status extends Of ? Data : never : never
type ItemOf<Stream> = Stream extends AsyncIterable<infer Item> ? Item : never
type Event = { event?: string; id?: string; data: { id: number } }
export const checked: [
  Is<DataOf<Awaited<ReturnType<typeof getImage>>, 200>, Blob>,
  Is<DataOf<Awaited<ReturnType<typeof getAlbumZip>>, 200>, Blob>,
  Is<DataOf<Awaited<ReturnType<typeof listTables>>, 200>, { id: number }[] | string>,
  Is<DataOf<Awaited<ReturnType<typeof createAlbumPhoto>>, 201>, { id: number }[]>,
  Is<ItemOf<ReturnType<typeof getLine>>, { id: number }>,
  ItemOf<ReturnType<typeof watchFeed>> extends Event ? true : false,
  Is<ItemOf<ReturnType<typeof watchFeed>>['data'], { id: number }>,
] = [true, true, true, true, true, true, true]

export async function run(baseUrl: string) {
  defaults.baseUrl = baseUrl
  const image = await getImage()
  const part = await getImage({ range: 'bytes=1-1' })
  if (image.status !== 200 || part.status !== 206) throw new Error('no image')
  const bytes = [...(await image.data.bytes()), ...(await part.data.bytes())]
  const zip = await getAlbumZip()
  if (zip.status !== 200) throw new Error('no ZIP')
  const uploaded = await createAlbumPhoto({ title: 'Sea', year: 2027, photos: [new Blob(['abc']), new File(['ab'], 'a.png')] })
  // @ts-expect-error a text is no file
  void (() => createAlbumPhoto({ title: 'Sea', photos: ['abc'] }))
  // @ts-expect-error the title is required
  void (() => createAlbumPhoto({ photos: [] }))
  // @ts-expect-error not a number
  void (() => createAlbumPhoto({ title: 'Sea', year: '2027', photos: [] }))
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
    bytes, zip: await zip.data.text(), uploaded: uploaded.status === 201 ? uploaded.data.map(({ id }) => id) : [], rows, csv: csv.status === 200 ? csv.data : '', lines, streamed, seen, first,
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
      zip: 'PK',
      uploaded: [3, 2],
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
