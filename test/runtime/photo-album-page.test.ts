// The guide to a photo album: its project is built, and its test passes, with small packages in place of those from npm.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createTestApp } from '../../src/testing/index.ts'
import { makeProject } from '../build/project.ts'
import { checkout } from '../support/cli.ts'

const page = readFileSync(path.join(checkout, 'docs/photo-album.md'), 'utf8')
/** Each block begins with a comment that names its file. */
const files = Object.fromEntries(
  [...page.matchAll(/^```\w+\n(?:#|\/\/) (\S+)\n([^]*?)^```$/gm)].map(([, file = '', code = '']) => [file, code]),
)
const testFile = files['test/album.test.ts'] ?? ''

/** A picture is its width, after the first bytes of a PNG. */
const jimp = `
const start = Buffer.from('\\x89PNG\\r\\n\\x1a\\n', 'latin1')
export class Jimp {
  constructor({ width }) { this.width = width }
  static async read(bytes) { return new Jimp({ width: Number(Buffer.from(bytes).subarray(8)) }) }
  resize({ w }) { this.width = w }
  async getBuffer() { return Buffer.concat([start, Buffer.from(String(this.width))]) }
}
`
const clientZip = `
export const makeZip = (entries) => new ReadableStream({
  async start(controller) {
    for await (const { input } of entries) controller.enqueue(new Uint8Array([80, 75, ...(await input.bytes())]))
    controller.close()
  },
})
`
const packageOf = (name: string, code: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({
    name,
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
  }),
  [`node_modules/${name}/index.js`]: code,
})

test('the photo album of the guide has photos, variants, a ZIP file and a feed', async () => {
  assert.equal(Object.keys(files).length, 12)
  await using project = await makeProject({
    ...files,
    'package.json': '{ "type": "module" }',
    ...packageOf('jimp', jimp),
    ...packageOf('client-zip', clientZip),
  })
  const before = process.cwd()
  process.chdir(project.root)
  try {
    const [, body = ''] = /async \(\) => \{\n([^]*)\n\}\)\n$/.exec(testFile) ?? []
    const { Jimp } = (await import(path.join(project.root, 'node_modules/jimp/index.js'))) as { readonly Jimp: unknown }
    const given = { assert, createTestApp, mkdtemp, tmpdir, path, Jimp }
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
      ...words: string[]
    ) => (...values: unknown[]) => Promise<void>
    // Types are not part of JavaScript.
    const run = new AsyncFunction(...Object.keys(given), body.replace('body[0]!.id', 'body[0].id'))
    await run(...Object.values(given))
  } finally {
    process.chdir(before)
  }
})
