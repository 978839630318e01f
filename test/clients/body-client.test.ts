import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import { generateClient } from '../../src/project/index.ts'
import { bodyFiles, makePng } from '../runtime/bodies-site.ts'
import { checkout } from '../support/cli.ts'
import { openProjectServer, writeFiles } from '../support/project-server.ts'

interface BookClient {
  readonly defaults: { baseUrl: string }
  createBook(body: object): Promise<{ status: number; data: any }> // oxlint-disable-line typescript/no-explicit-any
  replaceBytes(body: Blob): Promise<{ status: number; data: any }> // oxlint-disable-line typescript/no-explicit-any
  createText(body: string): Promise<{ status: number; data: any }> // oxlint-disable-line typescript/no-explicit-any
}

test('the generated client sends files, bytes and text', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  try {
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    await writeFiles(folder, { ...bodyFiles, 'package.json': '{ "type": "module" }' })
    const source = await generateClient({
      folder,
      variables: {},
      onDiagnostics: (diagnostics) => assert.deepEqual(diagnostics, []),
    })
    await writeFile(path.join(folder, 'api.ts'), source)
    const client = (await import(pathToFileURL(path.join(folder, 'api.ts')).href)) as BookClient
    await using server = await openProjectServer({ files: bodyFiles })
    client.defaults.baseUrl = server.url
    const cover = new File([makePng(200_000)], 'c.png', { type: 'image/png' })
    const { status, data } = await client.createBook({
      title: 'Sea',
      year: 1999,
      tags: ['a', 'b'],
      meta: { n: 1 },
      notes: [{ x: 1 }],
      cover,
      pages: [new File(['one'], '1.txt', { type: 'text/plain' })],
    })
    assert.equal(status, 200, JSON.stringify(data))
    const { cover: gotCover, pages, ...rest } = data
    assert.deepEqual(rest, {
      title: 'Sea',
      year: 1999,
      tags: ['a', 'b'],
      meta: { n: 1 },
      notes: [{ x: 1 }],
      type: 'multipart/form-data',
    })
    assert.deepEqual(
      [gotCover.name, gotCover.size, pages[0].name, pages[0].type],
      ['c.png', 200_000, '1.txt', 'text/plain'],
    )
    assert.deepEqual((await client.replaceBytes(new Blob(['abc'], { type: 'image/png' }))).data, {
      size: 3,
      type: 'image/png',
    })
    assert.deepEqual((await client.replaceBytes(new Blob(['abc']))).data, { size: 3, type: 'application/octet-stream' })
    assert.deepEqual((await client.createText('Höhe')).data, { body: 'Höhe', type: 'text/plain' })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
