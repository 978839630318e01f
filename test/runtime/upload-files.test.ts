import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, lstatSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { cleanFileName } from '../../src/runtime/bodies/file-name.ts'
import { agreesWithType, cleanType } from '../../src/runtime/bodies/file-type.ts'
import { releasePath, removeAbandonedFiles, reservePath } from '../../src/runtime/bodies/upload-folder.ts'
import { receiveFile, TemporaryFiles } from '../../src/runtime/bodies/receive-file.ts'
import { until } from '../support/until.ts'
import { listUploads } from './bodies-site.ts'

const bodies = path.join(import.meta.dirname, '../../src/runtime/bodies')

describe('temporary files of uploads', () => {
  test('are in a folder that only their user can read, and that exists while it has files', async () => {
    const [first, second] = [reservePath(), reservePath()]
    const folder = path.dirname(first)
    assert.equal(path.dirname(second), folder)
    for (const one of [folder, path.dirname(folder)]) assert.equal(lstatSync(one).mode & 0o777, 0o700)
    await releasePath(first)
    assert.ok(existsSync(folder))
    await releasePath(second)
    assert.ok(!existsSync(folder))
  })

  test('of a process that was killed are removed, and those of others are not', async () => {
    const script = `
      import { writeFileSync } from 'node:fs'
      const { reservePath } = await import('${bodies}/upload-folder.ts')
      const file = reservePath()
      writeFileSync(file, 'x')
      console.log(file)
      setInterval(() => undefined, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const file = await new Promise<string>((resolve) =>
      child.stdout.once('data', (text) => resolve(String(text).trim())),
    )
    const own = reservePath()
    await removeAbandonedFiles()
    assert.ok(existsSync(file))
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    await until('its files are removed', async () => {
      await removeAbandonedFiles()
      return !existsSync(path.dirname(file))
    })
    assert.ok(existsSync(path.dirname(own)))
    await releasePath(own)
  })

  test('are not written once their request has ended', async () => {
    const temporary = new TemporaryFiles(1e9)
    async function* chunks() {
      yield Buffer.alloc(100_000)
      await temporary.remove()
      yield Buffer.alloc(100_000)
    }
    const about = { part: 'a', name: 'a', type: 'text/plain', maxSize: 1e9, temporary }
    await assert.rejects(receiveFile(Readable.from(chunks()), about), /The request has ended/)
    assert.deepEqual(listUploads(), [])
  })

  test('that the file system does not take are an error that callers may see, and are removed', async () => {
    const script = `
      import { readdirSync, existsSync } from 'node:fs'
      import path from 'node:path'
      import { Readable } from 'node:stream'
      const { receiveFile, TemporaryFiles } = await import('${bodies}/receive-file.ts')
      const temporary = new TemporaryFiles(1e9)
      const stream = Readable.from([Buffer.alloc(60_000), Buffer.alloc(2_000_000), Buffer.alloc(10)])
      const options = { part: 'a', name: 'a', type: 'text/plain', maxSize: 1e9, temporary }
      const error = await receiveFile(stream, options).then(() => undefined, (error) => error)
      await temporary.remove()
      console.log(JSON.stringify([error?.code, error?.status, error?.cause?.code]))`
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 500 && exec "$0" --input-type=module -e "$1"',
      process.execPath,
      script,
    ])
    assert.deepEqual(JSON.parse(stdout), ['WP_RUNTIME_UPLOAD_SPACE', 503, 'EFBIG'])
  })
})

test('the names of files lose what deceives', () => {
  const names: readonly (readonly [string, string])[] = [
    ['a.png', 'a.png'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.png', 'a.png'],
    ['..', 'file'],
    ['/', 'file'],
    ['', 'file'],
    ['a\0b\r\nc.txt', 'abc.txt'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['a\u2066b\u2069.txt', 'ab.txt'],
    ['\uD800a', '\uFFFDa'],
    ['  a "b".txt ', 'a "b".txt'],
    [`${'a'.repeat(300)}.jpeg`, `${'a'.repeat(250)}.jpeg`],
    ['😀'.repeat(100), '😀'.repeat(63)],
  ]
  for (const [given, expected] of names) assert.equal(cleanFileName(given), expected)
})

test('the first bytes of a file agree with its type', () => {
  const starts: readonly (readonly [string, string])[] = [
    ['image/png', '\x89PNG\r\n\x1A\n'],
    ['image/jpeg', '\xFF\xD8\xFF\xE0'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF\x10\0\0\0WEBPVP8 '],
    ['application/pdf', '%PDF-1.7'],
    ['application/zip', 'PK\x03\x04'],
  ]
  for (const [type, start] of starts) {
    assert.ok(agreesWithType(type, Buffer.from(start, 'latin1')), type)
    for (const [other] of starts)
      if (other !== type) assert.ok(!agreesWithType(other, Buffer.from(start, 'latin1')), other)
  }
  assert.ok(agreesWithType('text/plain', Buffer.from('anything')))
  assert.equal(cleanType('Image/JPG; q=1'), 'image/jpeg')
})
